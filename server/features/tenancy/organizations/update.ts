import type { Endpoint } from "#contract/core/endpoint";
import type { organizations } from "#contract/resources/tenancy/organizations";
import { refuseReadOnly } from "#server/access/org-access";
import { changedFields } from "#server/audit/changed-fields";
import { lockRow } from "#server/db/dialect/locks";
import { tellDevicesOf } from "#server/features/fleet/device-commands/signals";
import { refuseBillingChange, refuseWithout } from "#server/features/tenancy/core/billing-settings";
import type { Call } from "#server/http/call";
import { problem, taken } from "#server/problem";
import { refuseEndBeforeStart } from "./create.ts";
import { getOrganization, slugIsTaken } from "./queries.ts";
import { decideStatus, transitions } from "./rules.ts";
import { abortWindingDown, beginWindingDown, notWindingDown, windingDown } from "./wind-down.ts";

type UpdateCall = typeof organizations.update extends Endpoint<infer T> ? Call<T> : never;

/**
 * Changes an organization; a change of status is a compare-and-swap
 * (docs/tenancy.md, "Status changes of an organization").
 */
export async function updateOrganization(call: UpdateCall) {
  const { partnerId, status, ...fields } = call.body;
  const ofBillingAlone = changesBillingAlone(call.body);
  if (!ofBillingAlone) refuseWithout(call, "organizations:write");
  if (partnerId !== undefined) throw problem("FIELD_IMMUTABLE", { details: { field: "partnerId" } });
  return call.transaction(async (tx) => {
    const before = await getOrganization(tx, call.params.id);
    call.audit.note({ resource: { id: before.id, name: before.name }, owner: { orgId: before.id } });
    const decision = decideStatus(before.status, status);
    if (decision === "INVALID_STATUS") throw problem("INVALID_STATUS", { details: { status } });
    if (decision === "INVALID_TRANSITION") {
      const allowed = transitions[before.status];
      throw problem("INVALID_TRANSITION", { details: { status: before.status, requested: status, allowed } });
    }
    if (Object.keys(fields).length > 0) refuseReadOnly(before);
    if (fields.settings !== undefined) {
      if (ofBillingAlone) fields.settings = { ...before.settings, ...fields.settings };
      refuseBillingChange(call, before.settings, fields.settings);
    }
    refuseEndBeforeStart({ ...before, ...fields });
    if (fields.slug !== undefined && fields.slug !== before.slug) {
      await lockRow(tx, call.services.store.dialect, "partners", before.partnerId);
      const slug = fields.slug;
      const isTaken = await call.asSystem("count against caps", (all) =>
        slugIsTaken(all, before.partnerId, slug, before.id),
      );
      if (isTaken) throw taken("SLUG_TAKEN", slug);
    }
    const updated = await tx
      .updateTable("organizations")
      .set({
        ...fields,
        ...(decision === "change" ? { status, ...drainOf(call, before, status) } : {}),
        updatedAt: call.clock.now(),
      })
      .where("id", "=", before.id)
      .where("status", "=", before.status)
      .executeTakeFirst();
    if (updated.numUpdatedRows !== 1n) throw problem("CONCURRENT_MODIFICATION");
    if (decision === "change") {
      call.audit.note({ details: await enter(call, before, status) });
      call.afterCommit(() => tellDevicesOf(call.services, before.id));
    }
    const changed = changedFields(before, decision === "change" ? { ...fields, status } : fields);
    call.audit.note({
      details: {
        changedFields: changed,
        ...(decision === "change" ? { fromStatus: before.status, toStatus: status } : {}),
      },
    });
    const now = await getOrganization(tx, before.id);
    if (changed.length > 0) call.emit("organization.updated", toldOfChange(now, changed));
    if (decision === "change" && status === "offboarding")
      call.emit("organization.offboarding", {
        orgId: now.id,
        data: { organizationId: now.id, organizationName: now.name },
      });
    return now;
  });
}

/** Merged with the other settings, which anything else replaces whole (docs/tenancy.md, "Billing settings"). */
function changesBillingAlone(body: UpdateCall["body"]): boolean {
  const given = Object.entries(body).filter(([, value]) => value !== undefined);
  return given.length === 1 && body.settings !== undefined && Object.keys(body.settings).join() === "billing";
}

type Before = Awaited<ReturnType<typeof getOrganization>>;

const drainOf = (call: UpdateCall, before: Before, status: Before["status"] | undefined) => {
  if (status === "offboarding") return windingDown(call.clock.now());
  return before.status === "offboarding" ? notWindingDown : {};
};

/** What the new status means for people, keys and devices. */
async function enter(call: UpdateCall, before: Before, status: Before["status"] | undefined) {
  if (status === "offboarding") return beginWindingDown(call, before.id);
  const aborted = before.status === "offboarding" ? { endedUninstalls: await abortWindingDown(call, before.id) } : {};
  if (status !== "churned") return aborted;
  const churned = { orgId: before.id, now: call.clock.now() };
  const told = await call.asSystem("revoke access", (all) =>
    call.services.hooks.onOrganizationChurned({ tx: all, ...churned }),
  );
  return { ...aborted, ...told };
}

const toldOfChange = ({ id, name, status }: { id: string; name: string; status: string }, changed: string[]) => ({
  orgId: id,
  data: { organizationId: id, organizationName: name, status, changedFields: changed },
});
