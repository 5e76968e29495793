import type { Reader } from "#server/db/unit-of-work";
import { type Asking, latest, type Reach, reachOf } from "./reach.ts";

export type ExportedResource = keyof typeof sources;

/** Which rows a page holds. */
export interface Walk {
  readonly resource: ExportedResource;
  readonly orgId: string | undefined;
  readonly siteId: string | undefined;
  readonly updatedSince: string | null;
  readonly snapshotAt: string;
  readonly after: { readonly updatedAt: string; readonly id: string } | undefined;
  readonly take: number;
}

/** A row of a page before its fields are read: what changed when, and whether it is still there. */
export interface FeedEntry {
  readonly id: string;
  /** Null: of the whole partner. */
  readonly orgId: string | null;
  readonly siteId: string | null;
  readonly sourceUpdatedAt: string;
  readonly removed: boolean;
}

export const idsOf = (entries: readonly FeedEntry[]): string[] => entries.map(({ id }) => id);

const sources = {
  organizations: { kind: "organization", changed: "changedAt" },
  sites: { kind: "site", changed: "changedAt" },
  devices: { kind: "device", changed: "changedAt" },
  "device-inventory": { kind: "device", changed: "inventoryAt" },
  "device-software": { kind: "device", changed: "softwareAt" },
  "device-relationships": { kind: "device", changed: "placedAt" },
  "custom-fields": { kind: "custom_field", changed: "changedAt" },
  "configuration-policies": { kind: "configuration_policy", changed: "changedAt" },
  "configuration-assignments": { kind: "configuration_assignment", changed: "changedAt" },
  "custom-field-values": { kind: "custom_field_value", changed: "changedAt" },
} as const;

/**
 * The next entries of a walk, in its order (docs/credentials.md, "Exports"). A full walk goes by id over what is within
 * reach. An incremental one goes by time over what changed, what came into reach with its organization or left it so,
 * and what went away by itself. Each of these is read in the order of an index, and they are merged here: joined in one
 * query they would be sorted as a whole for every page.
 */
export async function feed(call: Asking, walk: Walk): Promise<FeedEntry[]> {
  const walking = { db: call.db, reach: await reachOf(call, walk.orgId), walk };
  const { updatedSince, take } = walk;
  if (updatedSince === null) return everything(walking);
  const since = { ...walking, since: updatedSince };
  const found = [
    ...(await changed(since)),
    ...(await turned(since, true)),
    ...(await turned(since, false)),
    ...(await removed(since)),
  ];
  return found.sort(inOrder).slice(0, take);
}

/** The entry of a row within reach, for the answer to the write that made it. */
export async function feedEntry(call: Asking, resource: ExportedResource, id: string, orgId: string) {
  const walk = { resource, orgId, siteId: undefined };
  const walking = { db: call.db, reach: await reachOf(call, orgId), walk };
  const row = await rows(walking).where("id", "=", id).executeTakeFirstOrThrow();
  return entryOf(walking, row);
}

interface Walking<W = Walk> {
  readonly db: Reader;
  readonly reach: Reach;
  readonly walk: W;
}

interface Since extends Walking {
  readonly since: string;
}

type Filters = Pick<Walk, "resource" | "orgId" | "siteId">;

const inOrder = (a: FeedEntry, b: FeedEntry): number => {
  const [left, right] = [a.sourceUpdatedAt + a.id, b.sourceUpdatedAt + b.id];
  return left < right ? -1 : left > right ? 1 : 0;
};

/** Rows that the walk's filters let through, with the time that its export goes by. */
function rows({ db, walk: { resource, orgId, siteId } }: Walking<Filters>) {
  const { kind, changed: column } = sources[resource];
  let query = db
    .selectFrom("exportRows")
    .select(["id", "orgId", "siteId", "firstAt", `${column} as changedAt`])
    .where("kind", "=", kind);
  if (orgId !== undefined)
    query = query.where((eb) => eb.or([eb("orgId", "=", orgId), ...ofPartner(eb("orgId", "is", null), resource)]));
  return siteId === undefined ? query : query.where("siteId", "=", siteId);
}

const ofWholePartner: readonly ExportedResource[] = [
  "custom-fields",
  "configuration-policies",
  "configuration-assignments",
];

/** What belongs to the whole partner is within every reach. */
const ofPartner = <Condition>(condition: Condition, resource: ExportedResource): Condition[] =>
  ofWholePartner.includes(resource) ? [condition] : [];

/** The same, of organizations within reach. */
function rowsWithin(walking: Walking<Filters>) {
  const { within, without } = walking.reach;
  if (without?.length === 0) return rows(walking);
  return rows(walking).where((eb) => {
    const reached = without ? eb("orgId", "not in", without) : eb("orgId", "in", listed(within));
    return eb.or([reached, ...ofPartner(eb("orgId", "is", null), walking.walk.resource)]);
  });
}

/** Nothing is in an empty list, which is no SQL. */
const listed = (ids: readonly string[]): readonly (string | null)[] => (ids.length === 0 ? [null] : ids);

interface Row {
  id: string;
  orgId: string | null;
  siteId: string | null;
  changedAt: string | null;
}

/** A row counts as changed when its organization came into reach, if that was later. */
function entryOf({ reach }: Pick<Walking, "reach">, { id, orgId, siteId, changedAt }: Row): FeedEntry {
  return {
    id,
    orgId,
    siteId,
    sourceUpdatedAt: latest(changedAt, orgId === null ? null : reach.get(orgId)?.at),
    removed: false,
  };
}

async function everything(walking: Walking): Promise<FeedEntry[]> {
  const { after, snapshotAt, take } = walking.walk;
  let query = rowsWithin(walking).where("firstAt", "<=", snapshotAt).orderBy("id").limit(take);
  if (after) query = query.where("id", ">", after.id);
  return (await query.execute()).map((row) => entryOf(walking, row));
}

/** Rows that changed while their organization was within reach. */
async function changed(walking: Since): Promise<FeedEntry[]> {
  const { resource, snapshotAt, take } = walking.walk;
  const column = sources[resource].changed;
  return inBatches(walking, async ({ updatedAt, id }) => {
    const batch = await rowsWithin(walking)
      .where(column, ">=", updatedAt)
      .where(column, "<=", snapshotAt)
      .where((eb) => eb.or([eb(column, ">", updatedAt), eb("id", ">", id)]))
      .orderBy(column)
      .orderBy("id")
      .limit(take)
      .execute();
    return batch.map((row) => {
      const entry = entryOf(walking, row);
      const place = { updatedAt: row.changedAt as string, id: row.id };
      // Else it is told with its organization.
      return { place, entry: entry.sourceUpdatedAt === row.changedAt ? entry : undefined };
    });
  });
}

/**
 * Rows whose organization came into reach, or went out of it: told as of then, those of one moment by id. What came to be
 * after its organization went is told to nobody.
 */
async function turned(walking: Since, reached: boolean): Promise<FeedEntry[]> {
  const { walk, reach, since } = walking;
  const { after, snapshotAt, take, resource } = walk;
  const found: FeedEntry[] = [];
  for (const [at, orgIds] of reach.turned(reached, { after: since, upTo: snapshotAt })) {
    if (found.length >= take) break;
    if (after && at < after.updatedAt) continue;
    let query = rows(walking)
      .where("orgId", "in", orgIds)
      .where(reached ? sources[resource].changed : "firstAt", reached ? "<" : "<=", at)
      .orderBy("id")
      .limit(take - found.length);
    if (after?.updatedAt === at) query = query.where("id", ">", after.id);
    for (const { id, orgId, siteId } of await query.execute())
      found.push({ id, orgId, siteId, sourceUpdatedAt: at, removed: !reached });
  }
  return found;
}

/** Rows that went away from where they were, unless the walk still meets them elsewhere. */
async function removed(walking: Since): Promise<FeedEntry[]> {
  const { db, reach, walk } = walking;
  const { resource, orgId, siteId, snapshotAt, take } = walk;
  let removals = db
    .selectFrom("exportRemovals")
    .select(["rowId as id", "orgId", "siteId", "firstAt", "removedAt"])
    .where("kind", "=", sources[resource].kind)
    .where("removedAt", "<=", snapshotAt)
    .orderBy("removedAt")
    .orderBy("rowId")
    .limit(take);
  if (orgId !== undefined)
    removals = removals.where((eb) =>
      eb.or([eb("orgId", "=", orgId), ...ofPartner(eb("orgId", "is", null), resource)]),
    );
  if (siteId !== undefined) removals = removals.where("siteId", "=", siteId);
  return inBatches(walking, async ({ updatedAt, id }) => {
    const batch = await removals
      .where("removedAt", ">=", updatedAt)
      .where((eb) => eb.or([eb("removedAt", ">", updatedAt), eb("rowId", ">", id)]))
      .execute();
    const ids = batch.map((row) => row.id);
    const there = new Set(
      ids.length === 0 ? [] : (await rowsWithin(walking).where("id", "in", ids).execute()).map((row) => row.id),
    );
    return batch.map(({ firstAt, removedAt, ...row }) => {
      const org = row.orgId === null ? undefined : reach.get(row.orgId);
      const known = row.orgId === null || (org !== undefined && (org.reached || firstAt <= org.at));
      const entry = { ...row, sourceUpdatedAt: removedAt, removed: true };
      return { place: { updatedAt: removedAt, id: row.id }, entry: known && !there.has(row.id) ? entry : undefined };
    });
  });
}

interface Place {
  readonly updatedAt: string;
  readonly id: string;
}

/** Reads on, behind the walk's last entry, until enough is found or nothing is left. */
async function inBatches(
  { walk: { after, take }, since }: Since,
  read: (behind: Place) => Promise<{ place: Place; entry: FeedEntry | undefined }[]>,
): Promise<FeedEntry[]> {
  const found: FeedEntry[] = [];
  let behind: Place = after ?? { updatedAt: since, id: LAST_ID };
  for (;;) {
    const batch = await read(behind);
    for (const { entry } of batch) if (entry) found.push(entry);
    const last = batch.at(-1);
    if (!last || batch.length < take || found.length >= take) return found;
    behind = last.place;
  }
}

/** Behind all that happened at a moment. */
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";
