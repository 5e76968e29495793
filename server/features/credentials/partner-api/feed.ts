import type { ExpressionBuilder, ExpressionWrapper, SelectQueryBuilder } from "kysely";
import { partnerPrincipal } from "#server/access/principal";
import type { ExportedKind } from "#server/db/tables/credentials";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";

export type ExportedResource = "organizations" | "sites" | "devices" | "device-inventory" | "device-relationships";

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
  readonly orgId: string;
  readonly siteId: string | null;
  readonly sourceUpdatedAt: string;
  readonly removed: boolean;
}

const sources = {
  organizations: { kind: "organization", changed: "item.changedAt" },
  sites: { kind: "site", changed: "item.changedAt" },
  devices: { kind: "device", changed: "item.changedAt" },
  "device-inventory": { kind: "device", changed: "item.inventoryAt" },
  "device-relationships": { kind: "device", changed: "item.placedAt" },
} as const satisfies Record<ExportedResource, { kind: ExportedKind; changed: string }>;

type Asking = Pick<Call, "who"> & { readonly db: Reader };
// biome-ignore lint/suspicious/noExplicitAny: the conditions are written for rows and for removals alike
type Builder = ExpressionBuilder<any, any>;
// biome-ignore lint/suspicious/noExplicitAny: as above
type Query = SelectQueryBuilder<any, any, Omit<FeedEntry, "removed">>;
// biome-ignore lint/suspicious/noExplicitAny: as above
type Time = (eb: Builder) => ExpressionWrapper<any, any, string>;

/**
 * The next entries of a walk, in its order (docs/credentials.md, "Exports"). A full walk goes by id over what is within
 * reach. An incremental one goes by time of change over what changed, what came into reach with its organization, what
 * left it so, and what went away by itself; each of these is asked for by an index, and they are merged here.
 */
export async function feed(call: Asking, walk: Walk): Promise<FeedEntry[]> {
  const { updatedSince } = walk;
  if (updatedSince === null) return entries(wholeWalk(call, walk), false);
  const found = [
    ...(await entries(changed(call, walk, updatedSince), false)),
    ...(await entries(reachedAgain(call, walk, updatedSince), false)),
    ...(await entries(reachedNoMore(call, walk, updatedSince), true)),
    ...(await entries(removed(call, walk, updatedSince), true)),
  ];
  return found.sort(inOrder).slice(0, walk.take);
}

/** The entry of a row within reach, for the answer to the write that made it. */
export async function feedEntry(call: Asking, resource: ExportedResource, id: string): Promise<FeedEntry> {
  const at = later(resource);
  const query = rows(call, { resource, orgId: undefined, siteId: undefined }).where("item.id", "=", id);
  const row = await query.select((eb) => at(eb).as("sourceUpdatedAt")).executeTakeFirstOrThrow();
  return { ...(row as Omit<FeedEntry, "removed">), removed: false };
}

const entries = async (query: Query, gone: boolean): Promise<FeedEntry[]> =>
  (await query.execute()).map((row) => ({ ...row, removed: gone }));

const inOrder = (a: FeedEntry, b: FeedEntry): number => {
  const [left, right] = [a.sourceUpdatedAt + a.id, b.sourceUpdatedAt + b.id];
  return left < right ? -1 : left > right ? 1 : 0;
};

type Filters = Pick<Walk, "resource" | "orgId" | "siteId">;

/** Rows of organizations that the principal reaches, or once did, with what is needed to tell. */
function rows(call: Asking, { resource, orgId, siteId }: Filters): Query {
  const { principalId, orgAccess } = partnerPrincipal(call);
  const query = (call.db.selectFrom("exportRows as item") as unknown as Query)
    .innerJoin("exportOrgReach as reach", "reach.orgId", "item.orgId")
    .leftJoin("exportPrincipalReach as own", (join) =>
      join.onRef("own.orgId", "=", "item.orgId").on("own.principalId", "=", principalId),
    )
    .select(["item.id", "item.orgId", "item.siteId"])
    .where("item.kind", "=", sources[resource].kind);
  const known = orgAccess === "all" ? query : query.where("own.orgId", "is not", null);
  return filtered(known, "item", { orgId, siteId });
}

function filtered(query: Query, table: "item" | "gone", { orgId, siteId }: Omit<Filters, "resource">): Query {
  const ofOrg = orgId === undefined ? query : query.where(`${table}.orgId`, "=", orgId);
  return siteId === undefined ? ofOrg : ofOrg.where(`${table}.siteId`, "=", siteId);
}

const isReached = (eb: Builder) =>
  eb.and([eb("reach.reached", "=", true), eb.or([eb("own.orgId", "is", null), eb("own.reached", "=", true)])]);

/** When the reach of the row's organization last changed: the organization's own, or the principal's. */
const turnedAt: Time = (eb) =>
  eb
    .case()
    .when("own.changedAt", ">", eb.ref("reach.changedAt"))
    .then(eb.ref("own.changedAt"))
    .else(eb.ref("reach.changedAt"))
    .end();

/** When the row changed, as this principal sees it. */
const later =
  (resource: ExportedResource): Time =>
  (eb) =>
    eb
      .case()
      .when(sources[resource].changed, ">", turnedAt(eb))
      .then(eb.ref(sources[resource].changed))
      .else(turnedAt(eb))
      .end();

function wholeWalk(call: Asking, walk: Walk): Query {
  const { after, snapshotAt, resource } = walk;
  const query = rows(call, walk)
    .select((eb) => later(resource)(eb).as("sourceUpdatedAt"))
    .where(isReached)
    .where("item.firstAt", "<=", snapshotAt);
  return (after ? query.where("item.id", ">", after.id) : query).orderBy("item.id").limit(walk.take) as Query;
}

/** Rows whose organization was within reach all the time. */
function changed(call: Asking, walk: Walk, since: string): Query {
  const at: Time = (eb) => eb.ref(sources[walk.resource].changed);
  const query = rows(call, walk)
    .where(isReached)
    .where((eb) => eb(turnedAt(eb), "<=", since));
  return inTime(query, walk, { at, since, id: "item.id" });
}

/** Rows whose organization came into reach: all of them are new to the principal. */
function reachedAgain(call: Asking, walk: Walk, since: string): Query {
  const query = rows(call, walk)
    .where(isReached)
    .where((eb) => eb(turnedAt(eb), ">", since));
  return inTime(query, walk, { at: later(walk.resource), since, id: "item.id" });
}

/** Rows whose organization went out of reach, unless they came to be after that. */
function reachedNoMore(call: Asking, walk: Walk, since: string): Query {
  const query = rows(call, walk)
    .where((eb) => eb.not(isReached(eb)))
    .where((eb) => eb("item.firstAt", "<=", turnedAt(eb)));
  return inTime(query, walk, { at: turnedAt, since, id: "item.id" });
}

/** Rows that went away from where they were, unless the walk still meets them elsewhere. */
function removed(call: Asking, walk: Walk, since: string): Query {
  const { principalId, orgAccess } = partnerPrincipal(call);
  const query = (call.db.selectFrom("exportRemovals as gone") as unknown as Query)
    .innerJoin("exportOrgReach as reach", "reach.orgId", "gone.orgId")
    .leftJoin("exportPrincipalReach as own", (join) =>
      join.onRef("own.orgId", "=", "gone.orgId").on("own.principalId", "=", principalId),
    )
    .select(["gone.rowId as id", "gone.orgId", "gone.siteId"])
    .where("gone.kind", "=", sources[walk.resource].kind)
    .where((eb) => eb.or([isReached(eb), eb("gone.firstAt", "<=", turnedAt(eb))]))
    .where((eb) => eb.not(eb.exists(rows(call, walk).where(isReached).whereRef("item.id", "=", "gone.rowId"))));
  const known = orgAccess === "all" ? query : query.where("own.orgId", "is not", null);
  return inTime(filtered(known, "gone", walk), walk, { at: (eb) => eb.ref("gone.removedAt"), since, id: "gone.rowId" });
}

/** Narrows to the times of the walk, behind its last entry, oldest first. */
function inTime(query: Query, walk: Walk, by: { at: Time; since: string; id: string }): Query {
  const { at, since, id } = by;
  const { after, snapshotAt, take } = walk;
  let page = query
    .select((eb) => at(eb).as("sourceUpdatedAt"))
    .where((eb) => eb(at(eb), ">", since))
    .where((eb) => eb(at(eb), "<=", snapshotAt));
  if (after) {
    const { updatedAt } = after;
    page = page
      .where((eb) => eb(at(eb), ">=", updatedAt))
      .where((eb) => eb.or([eb(at(eb), ">", updatedAt), eb(id, ">", after.id)]));
  }
  return page
    .orderBy((eb) => at(eb))
    .orderBy(id)
    .limit(take) as Query;
}
