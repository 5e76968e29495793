import { asSystem } from "#server/db/as-system";
import { chunks } from "#server/db/chunks";
import { skipsLocked } from "#server/db/dialect/locks";
import { after, MINUTE } from "#server/platform/clock";
import type { EventServices } from "#server/room-hooks";
import { evaluateNow } from "./evaluate.ts";
import { dynamicGroups } from "./queries.ts";

/** Changes that are taken at once. */
const BATCH = 5_000;
/** More changed devices than this are looked at as all are. */
const FEW = 500;
/** Whoever took a change and did not finish is gone. */
const CLAIM_MS = 2 * MINUTE;
/** A run ends after so many turns, and the next goes on. */
const TURNS = 20;

interface Change {
  readonly seq: number;
  readonly orgId: string;
  readonly deviceId: string | null;
  readonly groupId: string | null;
  readonly field: string;
}

/**
 * Looks at what has changed since, for the groups that ask for it (docs/device-groups.md, "Dynamic groups"). What a group
 * gains or loses by it is a change for those whose conditions name the group, and is taken in the next turn.
 */
export async function evaluateDue(services: EventServices): Promise<number> {
  let taken = 0;
  for (let turn = 0; turn < TURNS; turn += 1) {
    const changes = await claim(services);
    if (changes.length === 0) break;
    taken += changes.length;
    for (const orgId of new Set(changes.map((change) => change.orgId))) {
      const own = changes.filter((change) => change.orgId === orgId);
      await evaluateOrganization(services, orgId, own);
      await forget(services, own);
    }
  }
  return taken;
}

async function evaluateOrganization(services: EventServices, orgId: string, changes: readonly Change[]): Promise<void> {
  const groups = await dynamicGroups(asSystem(services, "evaluate device groups"), (query) =>
    query.where("deviceGroups.orgId", "=", orgId),
  );
  const changed = new Map<string, Set<string | null>>();
  for (const { deviceId, groupId, field } of changes) {
    const key = groupId ?? field;
    const devices = changed.get(key) ?? new Set();
    changed.set(key, devices.add(deviceId));
  }
  for (const { id, filterFieldsUsed, filterGroupIds } of groups) {
    const keys = ["*", id, ...filterFieldsUsed, ...filterGroupIds.map((named) => `groupId:${named}`)];
    const devices = fewOf(keys.flatMap((key) => changed.get(key) ?? []));
    if (devices === undefined) await evaluateNow(services, id);
    else if (devices.length > 0) await evaluateNow(services, id, { only: devices });
  }
}

/** The devices of these sets; undefined where they are many, or all. */
function fewOf(sets: readonly ReadonlySet<string | null>[]): string[] | undefined {
  const few = new Set<string>();
  for (const devices of sets) {
    if (devices.size > FEW || devices.has(null)) return undefined;
    for (const id of devices) few.add(id as string);
  }
  return few.size > FEW ? undefined : [...few];
}

async function claim(services: EventServices): Promise<Change[]> {
  const now = services.clock.now();
  const db = asSystem(services, "evaluate device groups");
  // Mostly there is none, and a transaction of SQLite would hold up others.
  if (!(await db.selectFrom("deviceGroupDue").select("seq").limit(1).executeTakeFirst())) return [];
  return db.transaction().execute(async (tx) => {
    let query = tx
      .selectFrom("deviceGroupDue")
      .select(["seq", "orgId", "deviceId", "groupId", "field"])
      .where((eb) => eb.or([eb("claimedAt", "is", null), eb("claimedAt", "<", after(now, -CLAIM_MS))]))
      .orderBy("seq")
      .limit(BATCH);
    if (skipsLocked(services.store)) query = query.forUpdate().skipLocked();
    const found = await query.execute();
    for (const some of chunks(found))
      await tx.updateTable("deviceGroupDue").set({ claimedAt: now }).where("seq", "in", seqsOf(some)).execute();
    return found;
  });
}

async function forget(services: EventServices, changes: readonly Change[]): Promise<void> {
  const db = asSystem(services, "evaluate device groups");
  for (const some of chunks(changes)) await db.deleteFrom("deviceGroupDue").where("seq", "in", seqsOf(some)).execute();
}

const seqsOf = (changes: readonly Change[]): number[] => changes.map(({ seq }) => seq);
