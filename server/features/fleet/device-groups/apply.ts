import { setImmediate } from "node:timers/promises";
import { chunks } from "#server/db/chunks";
import type { DialectName } from "#server/db/dialect/index";
import { eachOf } from "#server/db/dialect/json";
import { heldAsParent, shared } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { EventServices } from "#server/room-hooks";
import type { Difference } from "./matching.ts";
import type { Entry, GroupKey } from "./members.ts";
import { TOLD_MAX } from "./rules.ts";

/** Rows of one statement, which holds the event loop of the embedded database until it is done. */
const ROWS_MAX = TOLD_MAX / 4;

/** Ids of devices. */
export interface Applied {
  readonly added: string[];
  readonly removed: string[];
}

/** As many devices as an event names. */
export function* partsOf({ joining, leaving }: Difference): Generator<Difference> {
  let [joined, left] = [0, 0];
  while (joined < joining.length || left < leaving.length) {
    const some = joining.slice(joined, joined + TOLD_MAX);
    const others = leaving.slice(left, left + TOLD_MAX - some.length);
    [joined, left] = [joined + some.length, left + others.length];
    yield { joining: some, leaving: others };
  }
}

/**
 * Writes one part of what an evaluation found, with the log. The group is held; whoever left its organization, site or
 * service since does not join, and who was pinned since does not leave. Others get their turn between the statements.
 * Needs an unscoped handle: names of devices go from table to table and are never read.
 */
export async function applyPart(
  tx: Tx,
  services: EventServices,
  group: GroupKey,
  { joining, leaving }: Difference,
): Promise<Applied> {
  const applied: Applied = { added: [], removed: [] };
  for (const some of chunks(joining, ROWS_MAX)) {
    const added = await join(tx, services, group, some);
    await logAll(tx, services, group, added, { action: "added", reason: "filter_match" });
    applied.added.push(...added);
    await setImmediate();
  }
  for (const some of chunks(leaving, ROWS_MAX)) {
    const removed = await leave(tx, services.store.dialect, group, some);
    await logAll(tx, services, group, removed, { action: "removed", reason: "filter_unmatch" });
    applied.removed.push(...removed);
    await setImmediate();
  }
  return applied;
}

/** Each id is looked for: an index of the organization would be walked through for so few. */
const ofIds = (tx: Tx, dialect: DialectName, ids: readonly string[]) =>
  tx
    .selectFrom(
      eachOf<{ deviceId: string }>(
        dialect,
        { deviceId: "uuid" },
        ids.map((deviceId) => ({ deviceId })),
      ),
    )
    .crossJoin("devices")
    .whereRef("devices.id", "=", "each.deviceId");

async function join(
  tx: Tx,
  { store, clock }: EventServices,
  { id, orgId, siteId }: GroupKey,
  ids: readonly string[],
): Promise<string[]> {
  let there = ofIds(tx, store.dialect, ids)
    .where("devices.orgId", "=", orgId)
    .where("devices.status", "<>", "decommissioned")
    .orderBy("devices.id")
    .select((eb) => ["devices.orgId", eb.val(id).as("groupId"), "devices.id", eb.lit(false).as("isPinned")])
    .select((eb) => [eb.val(clock.now()).as("addedAt"), eb.val("dynamic_rule").as("addedBy")]);
  if (siteId !== null) there = there.where("devices.siteId", "=", siteId);
  const joined = await tx
    .insertInto("deviceGroupMembers")
    .columns(["orgId", "groupId", "deviceId", "isPinned", "addedAt", "addedBy"])
    .expression(shared(there, store.dialect))
    .onConflict((conflict) => conflict.columns(["groupId", "deviceId"]).doNothing())
    .returning("deviceId")
    .execute();
  return joined.map(({ deviceId }) => deviceId);
}

async function leave(tx: Tx, dialect: DialectName, { id, orgId, siteId }: GroupKey, ids: readonly string[]) {
  const left = await tx
    .deleteFrom("deviceGroupMembers")
    .where("groupId", "=", id)
    .where("deviceId", "in", ids)
    .where((eb) => {
      const unpinned = eb("isPinned", "=", false);
      if (siteId === null) return unpinned;
      const foreign = ofIds(tx, dialect, ids)
        .select("devices.id")
        .where("devices.orgId", "=", orgId)
        .where("devices.siteId", "is distinct from", siteId);
      return eb.or([unpinned, eb("deviceId", "in", foreign)]);
    })
    .returning("deviceId")
    .execute();
  return left.map(({ deviceId }) => deviceId);
}

async function logAll(
  tx: Tx,
  { store, clock, random }: EventServices,
  group: GroupKey,
  ids: readonly string[],
  { action, reason }: Entry,
): Promise<void> {
  if (ids.length === 0) return;
  const entries = ids.map((deviceId) => ({ entryId: random.uuid(), deviceId }));
  const rows = tx
    .selectFrom(eachOf<(typeof entries)[number]>(store.dialect, { entryId: "uuid", deviceId: "uuid" }, entries))
    .crossJoin("devices")
    .whereRef("devices.id", "=", "each.deviceId")
    .where("devices.orgId", "=", group.orgId)
    .select((eb) => ["each.entryId", "devices.orgId", eb.val(group.id).as("groupId"), "devices.id"])
    .select((eb) => ["devices.hostname", "devices.displayName", eb.val(action).as("action")])
    .select((eb) => [eb.val(reason).as("reason"), eb.val(clock.now()).as("createdAt")]);
  await tx
    .insertInto("deviceGroupLog")
    .columns(["id", "orgId", "groupId", "deviceId", "hostname", "displayName", "action", "reason", "createdAt"])
    .expression(rows)
    .execute();
}

/** The group as long as what its members follow from is what the evaluation began with, and its organization is there. */
export async function holdVersion(
  tx: Tx,
  { store }: Pick<EventServices, "store">,
  { id, filterVersion }: { id: string; filterVersion: number },
): Promise<GroupKey | undefined> {
  const row = tx
    .selectFrom("deviceGroups")
    .select(["id", "orgId", "siteId", "name"])
    .where("id", "=", id)
    .where("filterVersion", "=", filterVersion)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom("organizations")
          .select("organizations.id")
          .whereRef("organizations.id", "=", "deviceGroups.orgId")
          .where("organizations.deletedAt", "is", null)
          .where("organizations.status", "<>", "purging"),
      ),
    );
  return heldAsParent(row, store.dialect).executeTakeFirst();
}
