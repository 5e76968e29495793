import { setImmediate } from "node:timers/promises";
import { chunks } from "#server/db/chunks";
import { held, shared } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { EventServices } from "#server/room-hooks";
import type { Difference } from "./matching.ts";
import { addMembers, type GroupKey, type NamedDevice, removeMembers } from "./members.ts";

export interface Applied {
  readonly added: NamedDevice[];
  readonly removed: NamedDevice[];
}

/**
 * Writes what an evaluation found. The group is held; whoever left its organization, site or service since does not
 * join, and who was pinned since does not leave. Others get their turn between the parts.
 */
export async function applyDifference(
  tx: Tx,
  services: EventServices,
  group: GroupKey,
  { joining, leaving }: Difference,
): Promise<Applied> {
  const [added, removed]: [NamedDevice[], NamedDevice[]] = [[], []];
  for (const some of chunks(joining)) {
    const there = await stillThere(tx, services, group, some);
    const how = { addedBy: "dynamic_rule", reason: "filter_match" } as const;
    added.push(...(await addMembers(tx, services, group, there, how)));
    await setImmediate();
  }
  for (const some of chunks(leaving)) {
    const how = { reason: "filter_unmatch", keepPinned: true } as const;
    removed.push(...(await removeMembers(tx, services, group, await namesOf(tx, group, some), how)));
    await setImmediate();
  }
  return { added, removed };
}

async function stillThere(
  tx: Tx,
  { store }: EventServices,
  { orgId, siteId }: GroupKey,
  ids: readonly string[],
): Promise<NamedDevice[]> {
  let query = tx
    .selectFrom("devices")
    .select(["id", "hostname", "displayName"])
    .where("orgId", "=", orgId)
    .where("id", "in", ids)
    .where("status", "<>", "decommissioned")
    .orderBy("id");
  if (siteId !== null) query = query.where("siteId", "=", siteId);
  return shared(query, store.dialect).execute();
}

export const namesOf = (tx: Tx, { orgId }: GroupKey, ids: readonly string[]): Promise<NamedDevice[]> =>
  tx
    .selectFrom("devices")
    .select(["id", "hostname", "displayName"])
    .where("orgId", "=", orgId)
    .where("id", "in", ids)
    .execute();

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
  return held(row, store.dialect).executeTakeFirst();
}
