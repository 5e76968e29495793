import type { Endpoint } from "#contract/core/endpoint";
import { type pamRules, RULES_MAX } from "#contract/resources/access-control/pam-rules";
import { orgForCreate } from "#server/access/org-access";
import type { Call } from "#server/http/call";
import { stored } from "./columns.ts";
import { holdPlace, refuseOverLimit } from "./place.ts";
import { refuseMisshapen } from "./shape.ts";

type CreateCall = typeof pamRules.create extends Endpoint<infer T> ? Call<T> : never;

/** Makes a rule, which decides from this commit on (docs/privileged-access.md, "Rules"). */
export async function createRule(call: CreateCall) {
  const { orgId: named, ...fields } = call.body;
  return call.transaction(async (tx) => {
    const { id: orgId } = await orgForCreate(call, named, tx);
    const id = call.random.uuid();
    const { name, siteId, verdict, enabled } = fields;
    call.audit.note({ resource: { id, name }, owner: { orgId }, siteIds: [siteId], details: { verdict, enabled } });
    await holdPlace(call as Call, tx, { ...fields, orgId });
    refuseMisshapen(fields);
    await refuseOverLimit(call as Call, tx, orgId, RULES_MAX);
    const now = call.clock.now();
    const rule = {
      ...stored(fields),
      ...{ id, orgId, suspendedVerdict: null, reapprovedAt: null, reapprovedByUserId: null },
      ...{ createdAt: now, updatedAt: now },
    };
    await call.asSystem("write rules of elevations", (all) => all.insertInto("pamRules").values(rule).execute());
    return {
      success: true as const,
      rule: await tx.selectFrom("pamRules").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    };
  });
}
