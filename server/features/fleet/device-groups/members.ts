import { unseen } from "#server/access/site-access";
import { chunks } from "#server/db/chunks";
import { shared } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import type { EventServices } from "#server/room-hooks";
import type { Group } from "./queries.ts";
import { toldIds } from "./rules.ts";

/** Which groups' members are written. */
export type GroupKey = Pick<Group, "id" | "orgId" | "name" | "siteId">;

export interface NamedDevice {
  readonly id: string;
  readonly hostname: string;
  readonly displayName: string | null;
}

export interface Entry {
  readonly action: "added" | "removed";
  readonly reason: "manual" | "filter_match" | "filter_unmatch" | "pinned" | "unpinned";
}

type Services = Pick<EventServices, "store" | "clock" | "random">;

/**
 * Devices that may be in the group, held so that none leaves its organization, site or service meanwhile; the others
 * are named in the refusal.
 */
export async function holdDevices(
  call: Pick<Call, "who" | "readAsSystem" | "services">,
  tx: Tx,
  { orgId, siteId }: GroupKey,
  ids: readonly string[],
): Promise<NamedDevice[]> {
  const wanted = [...new Set(ids)].toSorted();
  const found: NamedDevice[] = [];
  for (const some of chunks(wanted)) {
    let query = tx
      .selectFrom("devices")
      .select(["id", "hostname", "displayName"])
      .where("orgId", "=", orgId)
      .where("id", "in", some)
      .where("status", "<>", "decommissioned")
      .orderBy("id");
    if (siteId !== null) query = query.where("siteId", "=", siteId);
    found.push(...(await shared(query, call.services.store.dialect).execute()));
  }
  const known = new Set(found.map(({ id }) => id));
  const deviceIds = wanted.filter((id) => !known.has(id));
  if (deviceIds.length > 0) throw await refusalOf(call, deviceIds);
  return found;
}

/** A device of another site of theirs is told to people confined to sites (docs/conventions.md, "Site rule"). */
async function refusalOf(call: Pick<Call, "who" | "readAsSystem">, deviceIds: readonly string[]) {
  for (const id of deviceIds) {
    const refusal = await unseen(call, "devices", id);
    if (refusal.code === "SITE_ACCESS_DENIED") return refusal;
  }
  return problem("DEVICE_NOT_IN_ORG", { details: { deviceIds } });
}

export const namesOf = (tx: Tx, { orgId }: GroupKey, ids: readonly string[]): Promise<NamedDevice[]> =>
  tx
    .selectFrom("devices")
    .select(["id", "hostname", "displayName"])
    .where("orgId", "=", orgId)
    .where("id", "in", ids)
    .execute();

/** Adds those that are not members yet, with the log; answers them. The group is held. */
export async function addMembers(
  tx: Tx,
  services: Services,
  group: GroupKey,
  devices: readonly NamedDevice[],
  how: { addedBy: "manual" | "dynamic_rule"; isPinned?: boolean; reason: Entry["reason"] },
): Promise<NamedDevice[]> {
  const now = services.clock.now();
  const added: NamedDevice[] = [];
  for (const some of chunks(devices)) {
    const rows = some.map(({ id }) => ({
      orgId: group.orgId,
      groupId: group.id,
      deviceId: id,
      isPinned: how.isPinned ?? false,
      addedAt: now,
      addedBy: how.addedBy,
    }));
    const made = await tx
      .insertInto("deviceGroupMembers")
      .values(rows)
      .onConflict((conflict) => conflict.columns(["groupId", "deviceId"]).doNothing())
      .returning("deviceId")
      .execute();
    const ids = new Set(made.map(({ deviceId }) => deviceId));
    const joined = some.filter(({ id }) => ids.has(id));
    await writeLog(tx, services, group, joined, { action: "added", reason: how.reason });
    added.push(...joined);
  }
  return added;
}

/** Takes members out, with the log; answers those that were in it. The group is held. */
export async function removeMembers(
  tx: Tx,
  services: Services,
  group: GroupKey,
  devices: readonly NamedDevice[],
  how: { reason: Entry["reason"] },
): Promise<NamedDevice[]> {
  const removed: NamedDevice[] = [];
  for (const some of chunks(devices)) {
    const query = tx
      .deleteFrom("deviceGroupMembers")
      .where("groupId", "=", group.id)
      .where("deviceId", "in", idsOf(some))
      .returning("deviceId");
    const gone = new Set((await query.execute()).map(({ deviceId }) => deviceId));
    const left = some.filter(({ id }) => gone.has(id));
    await writeLog(tx, services, group, left, { action: "removed", reason: how.reason });
    removed.push(...left);
  }
  return removed;
}

export async function writeLog(
  tx: Tx,
  { clock, random }: Pick<Services, "clock" | "random">,
  { id: groupId, orgId }: Pick<GroupKey, "id" | "orgId">,
  devices: readonly NamedDevice[],
  entry: Entry,
): Promise<void> {
  const createdAt = clock.now();
  const rows = devices.map(({ id: deviceId, hostname, displayName }) => ({
    id: random.uuid(),
    ...{ orgId, groupId, deviceId, hostname, displayName, ...entry, createdAt },
  }));
  for (const some of chunks(rows)) await tx.insertInto("deviceGroupLog").values(some).execute();
}

export const idsOf = (devices: readonly NamedDevice[]): string[] => devices.map(({ id }) => id);

/** What is told when devices joined or left. */
export function toldOfMembers(group: GroupKey, added: readonly string[], removed: readonly string[]) {
  const ids = toldIds(added, removed);
  const data = { groupId: group.id, groupName: group.name, added: added.length, removed: removed.length, ...ids };
  return { orgId: group.orgId, siteId: group.siteId, data };
}
