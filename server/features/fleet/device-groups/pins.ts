import type { Endpoint } from "#contract/core/endpoint";
import type { deviceGroups } from "#contract/resources/fleet/device-groups";
import { getWritableOrg } from "#server/access/org-access";
import { unseen } from "#server/access/site-access";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { ruleOf } from "./evaluate.ts";
import { differenceOf } from "./matching.ts";
import { addMembers, holdDevices, idsOf, type NamedDevice, namesOf, removeMembers, toldOfMembers } from "./members.ts";
import { noteDevices } from "./note-devices.ts";
import { type Group, getGroup, holdGroup } from "./queries.ts";

type PinCall = typeof deviceGroups.pin extends Endpoint<infer T> ? Call<T> : never;
type UnpinCall = typeof deviceGroups.unpin extends Endpoint<infer T> ? Call<T> : never;

/** Keeps a device in the group, which adds it where it is none of its own (docs/device-groups.md, "Pins"). */
export async function pinDevice(call: PinCall) {
  return call.transaction(async (tx) => {
    const group = await holdDynamic(call, tx);
    const { deviceId } = call.params;
    const device = await deviceOf(call, tx, group);
    if (group.siteId !== null && device.siteId !== group.siteId) throw problem("NOT_FOUND");
    const devices = await holdDevices(call, tx, group, [deviceId]);
    const how = { addedBy: "manual", isPinned: true, reason: "pinned" } as const;
    const added = await addMembers(tx, call.services, group, devices, how);
    await setPinned(tx, group, deviceId, true);
    if (added.length > 0) call.emit("group.membership_changed", toldOfMembers(group, idsOf(added), []));
    return { groupId: group.id, deviceId, isPinned: true as const };
  });
}

/** Looks at once whether it matches, and takes it out where it does not. */
export async function unpinDevice(call: UnpinCall) {
  return call.transaction(async (tx) => {
    const group = await holdDynamic(call, tx);
    const { deviceId } = call.params;
    const member = await tx
      .selectFrom("deviceGroupMembers")
      .select("isPinned")
      .where("groupId", "=", group.id)
      .where("deviceId", "=", deviceId)
      .executeTakeFirst();
    if (!member) throw problem("NOT_FOUND");
    if (!member.isPinned) throw problem("NOT_PINNED");
    await setPinned(tx, group, deviceId, false);
    const { leaving } = await call.asSystem("keep device groups", (all) =>
      differenceOf(all, call.services, group.id, ruleOf(group), [deviceId]),
    );
    const devices = leaving.length === 0 ? [] : await namesOf(tx, group, leaving);
    const removed = await removeMembers(tx, call.services, group, devices, { reason: "unpinned" });
    if (removed.length > 0) call.emit("group.membership_changed", toldOfMembers(group, [], idsOf(removed)));
    return { groupId: group.id, deviceId, isPinned: false as const, removed: removed.length > 0 };
  });
}

const setPinned = async (tx: Tx, { id }: Group, deviceId: string, isPinned: boolean): Promise<void> =>
  void (await tx
    .updateTable("deviceGroupMembers")
    .set({ isPinned })
    .where("groupId", "=", id)
    .where("deviceId", "=", deviceId)
    .execute());

/** The dynamic group of the path, ready to be written and held. */
async function holdDynamic(call: PinCall | UnpinCall, tx: Tx): Promise<Group> {
  const { id, name, orgId, siteId, type } = await getGroup(call, tx, call.params.id);
  call.audit.note({ resource: { type: "device_group", id, name }, owner: { orgId }, siteIds: [siteId] });
  await noteDevices(call, tx, { orgId, siteId }, { deviceId: call.params.deviceId });
  await getWritableOrg(call, orgId, tx);
  if (type !== "dynamic") throw problem("NOT_DYNAMIC");
  return holdGroup(call, tx, id);
}

/** Of the group's organization, and in service. */
async function deviceOf(call: PinCall, tx: Tx, { orgId }: Group): Promise<NamedDevice & { siteId: string | null }> {
  const device = await tx
    .selectFrom("devices")
    .select(["id", "hostname", "displayName", "siteId"])
    .where("orgId", "=", orgId)
    .where("id", "=", call.params.deviceId)
    .where("status", "<>", "decommissioned")
    .executeTakeFirst();
  if (!device) throw await unseen(call, "devices", call.params.deviceId);
  return device;
}
