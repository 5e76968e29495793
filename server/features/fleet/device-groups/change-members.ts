import type { Endpoint } from "#contract/core/endpoint";
import type { deviceGroups } from "#contract/resources/fleet/device-groups";
import { getWritableOrg } from "#server/access/org-access";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { addMembers, holdDevices, idsOf, removeMembers, toldOfMembers } from "./members.ts";
import { noteDevices } from "./note-devices.ts";
import { countsOf, type Group, getGroup, holdGroup } from "./queries.ts";

type AddCall = typeof deviceGroups.addDevices extends Endpoint<infer T> ? Call<T> : never;
type RemoveCall = typeof deviceGroups.removeDevice extends Endpoint<infer T> ? Call<T> : never;

/** Adds devices to a static group; where one cannot be in it, none is added (docs/device-groups.md, "Static groups"). */
export async function addDevices(call: AddCall) {
  return call.transaction(async (tx) => {
    const group = await holdStatic(call, tx);
    const devices = await holdDevices(call, tx, group, call.body.deviceIds);
    const added = await addMembers(tx, call.services, group, devices, { addedBy: "manual", reason: "manual" });
    await noteDevices(call, tx, group, { deviceIds: idsOf(added) });
    if (added.length > 0) call.emit("group.membership_changed", toldOfMembers(group, idsOf(added), []));
    const total = (await countsOf(tx, [group.id])).get(group.id) ?? 0;
    return { added: added.length, skipped: devices.length - added.length, total };
  });
}

export async function removeDevice(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const group = await holdStatic(call, tx);
    const { deviceId } = call.params;
    const device = await tx
      .selectFrom("devices")
      .select(["id", "hostname", "displayName"])
      .where("orgId", "=", group.orgId)
      .where("id", "=", deviceId)
      .executeTakeFirst();
    const removed = device ? await removeMembers(tx, call.services, group, [device], { reason: "manual" }) : [];
    if (removed.length === 0) throw problem("NOT_FOUND");
    await noteDevices(call, tx, group, { deviceId });
    call.emit("group.membership_changed", toldOfMembers(group, [], idsOf(removed)));
    return { success: true as const };
  });
}

/** The static group of the path, ready to be written and held. */
async function holdStatic(call: AddCall | RemoveCall, tx: Tx): Promise<Group> {
  const { id, name, orgId, siteId, type } = await getGroup(call, tx, call.params.id);
  call.audit.note({ resource: { type: "device_group", id, name }, owner: { orgId }, siteIds: [siteId] });
  await getWritableOrg(call, orgId, tx);
  if (type === "dynamic") throw problem("DYNAMIC_GROUP");
  return holdGroup(call, tx, id);
}
