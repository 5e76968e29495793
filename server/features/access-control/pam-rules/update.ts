import type { Updateable } from "kysely";
import type { Endpoint } from "#contract/core/endpoint";
import type { pamRules } from "#contract/resources/access-control/pam-rules";
import { changedFields } from "#server/audit/changed-fields";
import type { PamRule, PamRulesTable } from "#server/db/tables/pam-rules";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { stored } from "./columns.ts";
import { holdPlace, holdRule } from "./place.ts";
import { refuseMisshapen } from "./shape.ts";

type UpdateCall = typeof pamRules.update extends Endpoint<infer T> ? Call<T> : never;

/** Omitted fields keep their values, and the rule is judged as it will be (docs/privileged-access.md, "Rules"). */
export async function updateRule(call: UpdateCall) {
  return call.transaction(async (tx) => {
    const before = await holdRule(call as Call, tx, call.params.id);
    const change = call.body.reapprove ? reapproval(call, before) : plainChange(call.body);
    const after = { ...before, ...change };
    call.audit.note({
      siteIds: [before.siteId, after.siteId],
      details: { changedFields: changedFields(before, change) },
    });
    await holdPlace(call as Call, tx, after);
    refuseMisshapen(after);
    await call.asSystem("write rules of elevations", (all) => {
      const changed = all.updateTable("pamRules").set({ ...change, updatedAt: call.clock.now() });
      return changed.where("id", "=", before.id).where("orgId", "=", before.orgId).execute();
    });
    return {
      success: true as const,
      rule: await tx.selectFrom("pamRules").selectAll().where("id", "=", before.id).executeTakeFirstOrThrow(),
    };
  });
}

type Change = Partial<Omit<PamRule, "id" | "orgId" | "createdAt">> & Updateable<PamRulesTable>;

/** A verdict that is set ends the suspension (docs/privileged-access.md, "Suspended rules"). */
function plainChange({ reapprove: _, ...body }: UpdateCall["body"]): Change {
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  if (Object.keys(given).length === 0) throw problem("NO_UPDATES");
  return { ...stored(given as Change), ...(body.verdict === undefined ? {} : { suspendedVerdict: null }) };
}

function reapproval(call: UpdateCall, { suspendedVerdict }: PamRule): Change {
  call.audit.note({ action: "pam.rule.reapprove" });
  if (suspendedVerdict === null) throw problem("NOT_SUSPENDED");
  const by = { reapprovedAt: call.clock.now(), reapprovedByUserId: user(call).userId };
  return { verdict: suspendedVerdict, suspendedVerdict: null, ...by };
}
