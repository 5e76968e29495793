import { holdAll } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { applyPart, partsOf } from "./apply.ts";
import type { Difference } from "./matching.ts";
import { type GroupKey, idsOf, removeMembers, toldOfMembers } from "./members.ts";
import { noteFields, noteWhole } from "./note-fields.ts";
import type { Group } from "./queries.ts";
import type { JudgedRule } from "./rule.ts";
import { TOLD_MAX, WRITTEN_AT_ONCE } from "./rules.ts";

/**
 * What the rule that a group is given makes of its members, if a request can write it; undefined: it is left to an
 * evaluation (docs/device-groups.md, "Dynamic groups"). The group is held.
 */
export async function differenceNow(tx: Tx, groupId: string, { matches }: JudgedRule): Promise<Difference | undefined> {
  if (matches === undefined) return undefined;
  const members = await tx
    .selectFrom("deviceGroupMembers")
    .select("deviceId")
    .where("groupId", "=", groupId)
    .limit(WRITTEN_AT_ONCE + 1)
    .execute();
  if (members.length > WRITTEN_AT_ONCE) return undefined;
  const matching = new Set(matches);
  const there = new Set(members.map(({ deviceId }) => deviceId));
  const leaving = [...there].filter((id) => !matching.has(id));
  return { joining: matches.filter((id) => !there.has(id)), leaving };
}

/** Writes what follows from the rule that a group has by now, as far as the request does; answers how many joined. */
export async function follow(call: Call, group: GroupKey, now: Difference | undefined): Promise<number> {
  await call.asSystem("keep device groups", async (all) => {
    await noteFields(all, group.orgId);
    await noteWhole(all, group);
  });
  let joined = 0;
  for (const part of now ? partsOf(now) : []) {
    const { added, removed } = await call.asSystem("keep device groups", (all) =>
      applyPart(all, call.services, group, part),
    );
    if (added.length + removed.length > 0) call.emit("group.membership_changed", toldOfMembers(group, added, removed));
    joined += added.length;
  }
  return joined;
}

/** A group of a site has that site's devices alone, pinned or not. */
export async function leaveForeign(call: Call, tx: Tx, group: Pick<Group, keyof GroupKey>): Promise<void> {
  const { id, orgId, siteId } = group;
  if (siteId === null) return;
  await holdMembers(call, tx, group);
  for (let left = TOLD_MAX; left === TOLD_MAX; ) {
    const foreign = await tx
      .selectFrom("deviceGroupMembers")
      .innerJoin("devices", "devices.id", "deviceGroupMembers.deviceId")
      .select(["devices.id", "devices.hostname", "devices.displayName"])
      .where("deviceGroupMembers.orgId", "=", orgId)
      .where("deviceGroupMembers.groupId", "=", id)
      .where("devices.siteId", "is distinct from", siteId)
      .limit(TOLD_MAX)
      .execute();
    const removed = await removeMembers(tx, call.services, group, foreign, { reason: "filter_unmatch" });
    if (removed.length > 0) call.emit("group.membership_changed", toldOfMembers(group, [], idsOf(removed)));
    left = foreign.length;
  }
}

/** Who is getting another site at this moment is waited for; whoever gets one later finds the group at its new site. */
async function holdMembers(call: Call, tx: Tx, group: GroupKey): Promise<void> {
  const members = tx
    .selectFrom("devices")
    .select("id")
    .where("orgId", "=", group.orgId)
    .where("id", "in", (eb) => eb.selectFrom("deviceGroupMembers").select("deviceId").where("groupId", "=", group.id))
    .orderBy("id");
  await holdAll(tx, members, call.services.store.dialect);
}
