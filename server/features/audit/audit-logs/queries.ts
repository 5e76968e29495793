import type { Expression, ExpressionBuilder, Kysely, SelectQueryBuilder } from "kysely";
import { user } from "#server/access/principal";
import type { DialectName } from "#server/db/dialect/index";
import { arrayIsWithin, hasArray, valueAt, withIds } from "#server/db/dialect/json";
import { containsPattern, isLike, matches } from "#server/db/dialect/text";
import { preparedRows } from "#server/db/prepared";
import type { Database } from "#server/db/tables";
import type { Call } from "#server/http/call";
import { refuseForeignRecord } from "./chain.ts";

/** The filters of every list of entries (docs/audit.md, "Reading entries"). */
export interface AuditFilters {
  orgId?: string | undefined;
  user?: string | undefined;
  action?: string | undefined;
  resource?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  /** Id of the actor. */
  userId?: string | undefined;
  /** Searches the fields of an entry, its details included. */
  q?: string | undefined;
}

/** Who reads. A type of its own, so that it fits `Given`. */
type Reading = {
  /** All of a partner's entries are found in their order under its id. */
  partnerId: string | undefined;
  readerId: string;
  withoutPartners: boolean;
  sites: string[] | undefined;
};

export type Asked = Reading &
  Record<keyof AuditFilters, string | undefined> & {
    /** `user` as JSON spells it. */
    userInJson: string | undefined;
  };

const columns = [
  "auditLogs.id",
  "auditLogs.orgId",
  "auditLogs.partnerId",
  "auditLogs.timestamp",
  "auditLogs.actorType",
  "auditLogs.actorId",
  "auditLogs.actorEmail",
  "auditLogs.action",
  "auditLogs.resourceType",
  "auditLogs.resourceId",
  "auditLogs.resourceName",
  "auditLogs.details",
  "auditLogs.ipAddress",
  "auditLogs.userAgent",
  "auditLogs.result",
] as const;

type Builder = ExpressionBuilder<Database, "auditLogs">;
export type Form = { dialect: DialectName };

/** What a list shows: the filters, and what the caller may read at all. Refuses another tenant's organization. */
export async function askedOf(call: Call, filters: AuditFilters): Promise<Asked> {
  const { orgId, userId, user: person, action, resource, from, to, q } = filters;
  if (orgId !== undefined) await refuseForeignRecord(call, orgId);
  const pattern = (text: string | undefined) => (text ? containsPattern(text) : undefined);
  return {
    ...readingOf(call),
    ...(orgId === undefined ? {} : { partnerId: undefined }),
    orgId,
    userId,
    user: pattern(person),
    userInJson: person ? containsPattern(JSON.stringify(person).slice(1, -1)) : undefined,
    action: pattern(action),
    resource: pattern(resource),
    from: from || undefined,
    to: to || undefined,
    q: q === undefined ? undefined : containsPattern(q),
  };
}

function readingOf(call: Call): Reading {
  const { userId, scope, orgAccess, allowedSiteIds } = user(call);
  const withoutPartners = scope === "partner" && orgAccess !== "all";
  return {
    partnerId: call.scope.kind === "partner" ? call.scope.partnerId : undefined,
    readerId: userId,
    withoutPartners,
    sites: withoutPartners ? undefined : (allowedSiteIds?.slice() ?? undefined),
  };
}

/** Ids alone: what orders the entries stands in an index, so that those before a page cost little. */
export const idsOfPage = preparedRows(
  (db, { limit, offset, ...asked }: Asked & { limit: number; offset: number }, form: Form) =>
    entries(db, asked, form)
      .select("auditLogs.id")
      .orderBy("auditLogs.timestamp", "desc")
      .orderBy("auditLogs.id", "desc")
      .limit(limit)
      .offset(offset),
);

/** The same and how many there are, where every row must be looked at: once instead of twice. */
export const idsAndTotal = preparedRows(
  (db, { limit, offset, ...asked }: Asked & { limit: number; offset: number }, form: Form) =>
    entries(db, asked, form)
      .select((eb) => ["auditLogs.id", eb.fn.countAll<number>().over().as("total")])
      .orderBy("auditLogs.timestamp", "desc")
      .orderBy("auditLogs.id", "desc")
      .limit(limit)
      .offset(offset),
);

/** The newest that match, by what stands in an index. */
export const newestEntries = preparedRows((db, { limit, ...asked }: Asked & { limit: number }, form: Form) =>
  entries(db, asked, form)
    .select(["auditLogs.id", "auditLogs.timestamp"])
    .orderBy("auditLogs.timestamp", "desc")
    .orderBy("auditLogs.id", "desc")
    .limit(limit),
);

/** No index holds what these look into. */
export const looksIntoRows = ({ user, resource, q }: Asked): boolean =>
  [user, resource, q].some((pattern) => pattern !== undefined);

export const countEntries = preparedRows((db, asked: Asked, form: Form) =>
  entries(db, asked, form).select((eb) => eb.fn.countAll<number>().as("total")),
);

/** The rows of a page, newest first. */
export const rowsOfPage = preparedRows(
  (db, { ids }: { ids: string[] }) =>
    withIds(db, "auditLogs", ids)
      .select(columns)
      .orderBy("auditLogs.timestamp", "desc")
      .orderBy("auditLogs.id", "desc"),
  { by: "key" },
);

export async function entryWithId(call: Call, id: string) {
  const [found] = await entryOf(call.db, { ...readingOf(call), id }, { dialect: call.services.store.dialect });
  return found;
}

const entryOf = preparedRows((db, { id, ...reading }: Reading & { id: string }, form: Form) =>
  readable(db, reading, form).select(columns).where("auditLogs.id", "=", id),
);

export function entries(db: Kysely<Database>, asked: Asked, form: Form) {
  const { partnerId, orgId, userId, user, userInJson, action, resource, from, to, q } = asked;
  let query = readable(db, asked, form);
  if (partnerId !== undefined) query = query.where("auditLogs.readerPartnerId", "=", partnerId);
  if (orgId !== undefined) query = query.where("auditLogs.orgId", "=", orgId);
  if (userId !== undefined) query = query.where("auditLogs.actorId", "=", userId);
  if (user !== undefined && userInJson !== undefined)
    query = query.where((eb) =>
      eb.or([
        matches(eb.ref("auditLogs.actorEmail"), user),
        byName(eb, user),
        byNameThen(eb, { user, userInJson }, form),
      ]),
    );
  // Actions are words of ours in lower case, and stand in the index (migration "audit action order").
  if (action !== undefined) query = query.where((eb) => isLike(eb.ref("auditLogs.action"), action));
  if (resource !== undefined) query = query.where((eb) => anyMatches(eb, ["resourceType", "resourceName"], resource));
  if (from !== undefined) query = query.where("auditLogs.timestamp", ">=", from);
  if (to !== undefined) query = query.where("auditLogs.timestamp", "<=", to);
  return q === undefined ? query : query.where((eb) => anyMatches(eb, searched, q));
}

/** Entries that are about no site, and not about people or secrets either. */
const organizationWide = ["organization", "filter", "custom_field", "policy", "script", "maintenance_window"];

/** The entries that the caller may read at all (docs/audit.md, "Who reads which entries"). */
function readable(
  db: Kysely<Database>,
  { readerId, withoutPartners, sites }: Reading,
  { dialect }: Form,
): SelectQueryBuilder<Database, "auditLogs", object> {
  const query = db.selectFrom("auditLogs");
  const own = (eb: Builder) => eb.and([eb("auditLogs.actorType", "=", "user"), eb("auditLogs.actorId", "=", readerId)]);
  if (withoutPartners) return query.where((eb) => eb.or([eb("auditLogs.orgId", "is not", null), own(eb)]));
  if (sites === undefined) return query;
  return query.where((eb) => {
    const details = eb.ref("auditLogs.details");
    // Older invitations say under this name where the person may go; a person is of no site.
    const isNoPerson = eb("auditLogs.resourceType", "is distinct from", "user");
    return eb.or([
      own(eb),
      eb.and([isNoPerson, arrayIsWithin(details, "siteIds", sites, dialect)]),
      eb.and([eb.not(hasArray(details, "siteIds", dialect)), eb("auditLogs.resourceType", "in", organizationWide)]),
    ]);
  });
}

const searched = ["action", "actorEmail", "resourceType", "resourceName", "details"] as const;

const anyMatches = (eb: Builder, names: readonly (typeof searched)[number][], pattern: string) =>
  eb.or(names.map((name) => matches(eb.ref(`auditLogs.${name}`), pattern)));

const byName = (eb: Builder, pattern: string) =>
  eb(
    "auditLogs.actorId",
    "in",
    eb
      .selectFrom("users")
      .select("users.id")
      .where((inner) => matches(inner.ref("users.name"), pattern)),
  );

/** The name that lists show. The text is looked into first: that costs less than to read its JSON. */
const byNameThen = (eb: Builder, { user, userInJson }: { user: string; userInJson: string }, { dialect }: Form) => {
  const details = eb.ref("auditLogs.details");
  const name = valueAt(details, "actorName", dialect) as Expression<string | null>;
  return eb.and([matches(details, userInJson), matches(name, user)]);
};
