import type { Endpoint } from "#contract/core/endpoint";
import type { deviceGroups } from "#contract/resources/fleet/device-groups";
import { getWritableOrg } from "#server/access/org-access";
import { refuseForeignSite } from "#server/access/site-access";
import { changedFields } from "#server/audit/changed-fields";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { type GroupKey, type NamedDevice, removeMembers, toldOfMembers } from "./members.ts";
import { holdGroups, refuseMisplaced, refuseTakenName } from "./place.ts";
import { getGroup, holdGroup, shownGroup } from "./queries.ts";
import { keyOfName } from "./rules.ts";

type UpdateCall = typeof deviceGroups.update extends Endpoint<infer T> ? Call<T> : never;

/** Omitted fields keep their values (docs/device-groups.md, "Groups"). */
export async function updateGroup(call: UpdateCall) {
  return call.transaction(async (tx) => {
    const { orgId, ...seen } = await getGroup(call, tx, call.params.id);
    const siteId = call.body.siteId === undefined ? seen.siteId : call.body.siteId;
    call.audit.note({ resource: { id: seen.id, name: seen.name }, owner: { orgId }, siteIds: [seen.siteId, siteId] });
    await getWritableOrg(call, orgId, tx);
    if (Object.keys(call.body).length === 0) throw problem("NO_UPDATES");
    if (siteId !== seen.siteId) await refuseForeignSite(call, tx, { orgId, siteId, code: "SITE_NOT_IN_ORG" });
    const groups = await holdGroups(call, tx, orgId);
    const before = await holdGroup(call, tx, seen.id);
    const after = { ...before, ...call.body };
    await refuseMisplaced(call, tx, groups, { ...after, named: call.body.parentId });
    refuseTakenName(groups, before.id, after.name);
    await tx
      .updateTable("deviceGroups")
      .set({ ...call.body, nameKey: keyOfName(after.name), updatedAt: call.clock.now() })
      .where("id", "=", before.id)
      .execute();
    call.audit.note({ details: { changedFields: changedFields(before, call.body) } });
    const removed = after.siteId === before.siteId ? [] : await leaveForeign(call, tx, after);
    if (removed.length > 0) call.emit("group.membership_changed", toldOfMembers(after, [], removed));
    return shownGroup(tx, before.id);
  });
}

/** A group of a site has that site's devices alone. */
async function leaveForeign(call: UpdateCall, tx: Tx, group: GroupKey): Promise<NamedDevice[]> {
  if (group.siteId === null) return [];
  const foreign = await tx
    .selectFrom("deviceGroupMembers")
    .innerJoin("devices", "devices.id", "deviceGroupMembers.deviceId")
    .select(["devices.id", "devices.hostname", "devices.displayName"])
    .where("deviceGroupMembers.groupId", "=", group.id)
    .where("devices.siteId", "is distinct from", group.siteId)
    .execute();
  return removeMembers(tx, call.services, group, foreign, { reason: "filter_unmatch" });
}
