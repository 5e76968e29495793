import { shared } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { applyDifference } from "./apply.ts";
import { type GroupKey, type NamedDevice, removeMembers, toldOfMembers } from "./members.ts";
import { noteFields, noteWhole } from "./note-fields.ts";
import type { Group } from "./queries.ts";
import type { JudgedRule } from "./rule.ts";

interface Change {
  readonly before: Group;
  readonly after: GroupKey;
  readonly rule: JudgedRule | undefined;
}

/** Who joins and leaves because the group has another site or other conditions; the group is held. */
export async function changeMembers(call: Call, tx: Tx, { before, after, rule }: Change): Promise<void> {
  const pruned = after.siteId === before.siteId ? [] : await leaveForeign(call, tx, after);
  const { added, removed } = rule ? await follow(call, tx, after, rule) : { added: [], removed: [] };
  const left = [...pruned, ...removed];
  if (added.length + left.length > 0) call.emit("group.membership_changed", toldOfMembers(after, added, left));
}

/** A group of a site has that site's devices alone, pinned or not. */
async function leaveForeign(call: Call, tx: Tx, group: GroupKey): Promise<NamedDevice[]> {
  if (group.siteId === null) return [];
  await holdMembers(call, tx, group);
  const foreign = await tx
    .selectFrom("deviceGroupMembers")
    .innerJoin("devices", "devices.id", "deviceGroupMembers.deviceId")
    .select(["devices.id", "devices.hostname", "devices.displayName"])
    .where("deviceGroupMembers.groupId", "=", group.id)
    .where("devices.siteId", "is distinct from", group.siteId)
    .execute();
  return removeMembers(tx, call.services, group, foreign, { reason: "filter_unmatch" });
}

/** Who is getting another site at this moment is waited for; whoever gets one later finds the group at its new site. */
async function holdMembers(call: Call, tx: Tx, group: GroupKey): Promise<void> {
  const members = tx
    .selectFrom("devices")
    .select("id")
    .where("orgId", "=", group.orgId)
    .where("id", "in", (eb) => eb.selectFrom("deviceGroupMembers").select("deviceId").where("groupId", "=", group.id))
    .orderBy("id");
  await shared(members, call.services.store.dialect).execute();
}

async function follow(call: Call, tx: Tx, group: GroupKey, { matches }: JudgedRule) {
  await call.asSystem("keep device groups", async (all) => {
    await noteFields(all, group.orgId);
    await noteWhole(all, group);
  });
  const members = await tx
    .selectFrom("deviceGroupMembers")
    .select("deviceId")
    .where("groupId", "=", group.id)
    .execute();
  const matching = new Set(matches);
  const there = new Set(members.map(({ deviceId }) => deviceId));
  const joining = matches.filter((id) => !there.has(id));
  const leaving = [...there].filter((id) => !matching.has(id));
  return applyDifference(tx, call.services, group, { joining, leaving });
}
