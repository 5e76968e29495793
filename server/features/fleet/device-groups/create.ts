import type { Endpoint } from "#contract/core/endpoint";
import type { deviceGroups } from "#contract/resources/fleet/device-groups";
import { orgForCreate } from "#server/access/org-access";
import { refuseForeignSite } from "#server/access/site-access";
import { type Call, user } from "#server/http/call";
import { addMembers, holdDevices, toldOfMembers } from "./members.ts";
import { holdGroups, refuseMisplaced, refuseOverLimit, refuseTakenName } from "./place.ts";
import { shownGroup } from "./queries.ts";
import { keyOfName } from "./rules.ts";

type CreateCall = typeof deviceGroups.create extends Endpoint<infer T> ? Call<T> : never;

/** Creates a group with its first devices (docs/device-groups.md, "Groups"). */
export async function createGroup(call: CreateCall) {
  return call.transaction(async (tx) => {
    const { name, siteId, description, parentId, deviceIds } = call.body;
    const { id: orgId } = await orgForCreate(call, call.body.orgId, tx);
    const id = call.random.uuid();
    call.audit.note({ resource: { id, name }, owner: { orgId }, siteIds: [siteId] });
    await refuseForeignSite(call, tx, { orgId, siteId, code: "SITE_NOT_IN_ORG" });
    const groups = await holdGroups(call, tx, orgId);
    await refuseMisplaced(call, tx, groups, { id, siteId, parentId, named: parentId });
    refuseTakenName(groups, id, name);
    refuseOverLimit(groups);
    const now = call.clock.now();
    await tx
      .insertInto("deviceGroups")
      .values({
        ...{ id, orgId, siteId, name, nameKey: keyOfName(name), description, parentId },
        ...{ type: "static", filterConditions: null, filterFieldsUsed: [], filterGroupIds: [] },
        ...{ filterVersion: 1, byClock: false, lastEvaluatedAt: null, lastEvaluationError: null },
        ...{ createdBy: user(call).userId, createdAt: now, updatedAt: now },
      })
      .execute();
    const group = { id, orgId, siteId, name };
    const devices = await holdDevices(call, tx, group, deviceIds);
    const added = await addMembers(tx, call.services, group, devices, { addedBy: "manual", reason: "manual" });
    call.audit.note({ details: { type: "static", devices: added.length } });
    if (added.length > 0) call.emit("group.membership_changed", toldOfMembers(group, added, []));
    return shownGroup(tx, id);
  });
}
