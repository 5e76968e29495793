import { type ExpressionBuilder, expressionBuilder, type OperationNode, type SelectQueryBuilder } from "kysely";
import { word } from "./dialect/text.ts";
import type { Scope } from "./scope.ts";
import { type Ownership, ownership, partnerKept, type TableName } from "./tables.ts";

// biome-ignore lint/suspicious/noExplicitAny: the predicate is written for any table that has the owner's columns
type Builder = ExpressionBuilder<any, any>;
type Predicate = ReturnType<Builder["and"]>;

/**
 * - `key`: the query finds few rows by their keys, and each is looked up among the caller's organizations. Otherwise
 *   SQLite makes a set of these first, of which there may be thousands.
 * - `partner`: it walks an index of the whole partner, and looks out for organizations that are gone, which are few.
 * - `devices`: the same, and of rows that describe devices it asks only whether one of these devices has them. Such a row is
 *   of its device's organization (a foreign key), so whether the caller reaches it is said by the device.
 * - `devices by key`: the same where devices are found by what is asked, and each is looked up among the organizations.
 */
export type Met = "key" | "partner" | "devices" | "devices by key";

/** Tables whose rows are of a device, in its organization; samples, which stay behind when it moves, are asked for with both. */
const partsOfDevices: ReadonlySet<TableName> = new Set([
  "deviceTags",
  "deviceHardware",
  "deviceInterfaces",
  "deviceSoftware",
  "deviceSoftwareReports",
  "devicePatches",
  "devicePatchReports",
  "deviceGroupMembers",
  "deviceNewestMetrics",
]);

interface Narrowing {
  scope: Scope;
  /** Name under which the table is visible. */
  alias: string;
  by?: Met | undefined;
}

/** The condition that narrows `table` to what the scope reads; undefined = every row. */
export const scopePredicate = (table: TableName, narrowing: Narrowing): OperationNode | undefined =>
  narrowed(table, rules[ownership[table]], narrowing);

/** The same of what it may change. */
export const writePredicate = (table: TableName, narrowing: Narrowing): OperationNode | undefined =>
  narrowed(table, writeRules[ownership[table]] ?? rules[ownership[table]], narrowing);

function narrowed(table: TableName, rule: Rule, { scope, alias, by }: Narrowing): OperationNode | undefined {
  const eb = expressionBuilder() as unknown as Builder;
  // One organization is narrowed to at once; for a whole partner, each row would be looked up.
  if (by?.startsWith("devices") && scope.kind === "partner" && partsOfDevices.has(table)) return undefined;
  const isByKey = by === "key" || by === "devices by key";
  const met = isByKey ? "key" : by !== undefined && partnerKept.has(table) ? "partner" : undefined;
  const predicate = rule({ eb, scope, by: met, column: (name) => `${alias}.${name}` });
  return predicate?.toOperationNode();
}

interface Context {
  eb: Builder;
  scope: Scope;
  by: Met | undefined;
  column(name: string): string;
}

const nothing = (eb: Builder): Predicate => eb.and([eb(eb.val(1), "=", 0)]);

// biome-ignore lint/suspicious/noExplicitAny: as above
type Query = SelectQueryBuilder<any, any, any>;

/** Whether the column's value is among those of `found`, a column of the query. */
const isAmong = ({ eb, by, column }: Context, name: string, query: Query, found: string): Predicate =>
  (by === "key"
    ? eb.exists(query.select(found).whereRef(found, "=", column(name)))
    : eb(column(name), "in", query.select(found))) as Predicate;

/** The conditions on organizations, visible as `of` says, that the scope reaches (docs/conventions.md, "Tenant reach"). */
function reached(eb: Builder, scope: Scope & { kind: "partner" }, of: (column: string) => string): Predicate {
  const parts = [
    eb(of("partnerId"), "=", scope.partnerId),
    eb(of("deletedAt"), "is", null),
    eb(of("status"), "<>", word("purging")),
  ] as Predicate[];
  // A partner principal reaches active and trial organizations, and of these only the chosen ones if it is `selected`.
  if (scope.principal) parts.push(eb(of("status"), "in", [word("active"), word("trial")]) as Predicate);
  if (scope.principal?.selected) parts.push(eb(of("id"), "in", chosenFor(eb, scope.principal.id)) as Predicate);
  if (!scope.principal && scope.selected !== null)
    parts.push(eb(of("id"), "in", grantedTo(eb, scope.selected)) as Predicate);
  return eb.and(parts);
}

const chosenFor = (eb: Builder, principalId: string) =>
  eb.selectFrom("partnerServicePrincipalOrgs").select("orgId").where("principalId", "=", principalId);

const grantedTo = (eb: Builder, membershipId: string) =>
  eb.selectFrom("partnerUserOrgs").select("orgId").where("membershipId", "=", membershipId);

const inOrganizations = (column: string): string => `organizations.${column}`;

function byOrg(context: Context): Predicate | undefined {
  const { eb, scope, column } = context;
  if (scope.kind === "system") return undefined;
  if (scope.kind === "organization") return eb(column("orgId"), "=", scope.orgId) as Predicate;
  if (scope.kind === "none" || scope.selected === "none") return nothing(eb);
  const isWhole = !scope.principal && scope.selected === null;
  if (isWhole && context.by === "partner") return ofPartner(context, scope.partnerId);
  const organizations = eb.selectFrom("organizations").where(reached(eb, scope, inOrganizations));
  return isAmong(context, "orgId", organizations, "organizations.id");
}

/**
 * What a whole partner reaches, said by what it does not: few organizations are deleted. Where none is, no row is asked for
 * its organization, which takes a third as long as reading it.
 */
function ofPartner({ eb, column }: Context, partnerId: string): Predicate {
  const gone = eb
    .selectFrom("organizations")
    .select("organizations.id")
    .where("organizations.partnerId", "=", partnerId)
    .where(eb.or([eb("organizations.deletedAt", "is not", null), eb("organizations.status", "=", word("purging"))]));
  return eb.and([
    eb(column("partnerId"), "=", partnerId),
    eb.or([eb.not(eb.exists(gone)), eb(column("orgId"), "not in", gone)]),
  ]) as Predicate;
}

function bySite(context: Context, siteColumn: string, shared = false): Predicate | undefined {
  const { eb, scope, column } = context;
  const base = byOrg(context);
  if (scope.kind !== "organization" || scope.siteIds === null) return base;
  const own =
    scope.siteIds.length === 0 ? nothing(eb) : (eb(column(siteColumn), "in", [...scope.siteIds]) as Predicate);
  const seen = shared ? eb.or([own, eb(column(siteColumn), "is", null) as Predicate]) : own;
  return eb.and([base as Predicate, seen]);
}

/** A partner still reads what was recorded of organizations it deleted since, each member of those it was granted. */
function byOrgOfAnyTime(context: Context): Predicate {
  const { eb, scope } = context;
  if (scope.kind !== "partner" || scope.selected === "none" || scope.principal) return byOrg(context) as Predicate;
  let every = eb.selectFrom("organizations").where("organizations.partnerId", "=", scope.partnerId);
  if (scope.selected !== null) every = every.where("organizations.id", "in", grantedTo(eb, scope.selected));
  return isAmong(context, "orgId", every, "organizations.id");
}

function byTenant(context: Context, builtIn: boolean): Predicate | undefined {
  const { eb, scope, column } = context;
  if (scope.kind === "system") return undefined;
  const parts = [builtIn ? (byOrg(context) as Predicate) : byOrgOfAnyTime(context)];
  if (scope.kind === "partner") {
    parts.push(eb.and([eb(column("orgId"), "is", null), eb(column("partnerId"), "=", scope.partnerId)]) as Predicate);
  }
  if (builtIn) parts.push(eb.and([eb(column("orgId"), "is", null), eb(column("partnerId"), "is", null)]) as Predicate);
  return eb.or(parts);
}

/** Rows of organizations within reach, and of the caller's whole partner. */
function byOwner(context: Context): Predicate | undefined {
  const { eb, scope, column } = context;
  const own = byOrg(context);
  if (own === undefined || scope.kind !== "partner") return own;
  return eb.or([own, eb.and([eb(column("orgId"), "is", null), eb(column("partnerId"), "=", scope.partnerId)])]);
}

function sharedByOwner(context: Context): Predicate | undefined {
  const { eb, scope, column } = context;
  const own = byOwner(context);
  if (own === undefined || scope.kind !== "organization") return own;
  const partner = eb
    .selectFrom("organizations")
    .select("organizations.partnerId")
    .where("organizations.id", "=", scope.orgId);
  return eb.or([own, eb.and([eb(column("orgId"), "is", null), eb(column("partnerId"), "in", partner)])]);
}

type Rule = (context: Context) => Predicate | undefined;

const rules: Record<Ownership, Rule> = {
  partners({ eb, scope, column }) {
    const live = eb(column("deletedAt"), "is", null) as Predicate;
    if (scope.kind === "system") return live;
    if (scope.kind === "partner") return eb.and([eb(column("id"), "=", scope.partnerId) as Predicate, live]);
    return nothing(eb);
  },
  organizations({ eb, scope, column }) {
    const live = [eb(column("deletedAt"), "is", null), eb(column("status"), "<>", word("purging"))] as Predicate[];
    if (scope.kind === "system") return eb.and(live);
    if (scope.kind === "organization") return eb.and([eb(column("id"), "=", scope.orgId) as Predicate, ...live]);
    if (scope.kind === "none" || scope.selected === "none") return nothing(eb);
    return reached(eb, scope, column);
  },
  org: byOrg,
  "org+site": (context) => bySite(context, "siteId"),
  "org+site?": (context) => bySite(context, "siteId", true),
  sites: (context) => bySite(context, "id"),
  partner({ eb, scope, column }) {
    if (scope.kind === "system") return undefined;
    return scope.kind === "partner" ? (eb(column("partnerId"), "=", scope.partnerId) as Predicate) : nothing(eb);
  },
  tenant: (context) => byTenant(context, false),
  "tenant-or-builtin": (context) => byTenant(context, true),
  "tenant-shared": sharedByOwner,
  member(context) {
    const { eb, scope, column } = context;
    if (scope.kind === "system") return undefined;
    if (scope.kind === "none") return nothing(eb);
    const members = eb
      .selectFrom("organizationUsers")
      .where("organizationUsers.acceptedAt", "is not", null)
      .where(byOrg({ ...context, column: (name) => `organizationUsers.${name}` }) as Predicate);
    const parts = [isAmong(context, "id", members, "organizationUsers.userId")];
    if (scope.userId !== null) parts.push(eb(column("id"), "=", scope.userId) as Predicate);
    if (scope.kind === "partner") {
      const staff = eb
        .selectFrom("partnerUsers")
        .where("partnerUsers.acceptedAt", "is not", null)
        .where("partnerUsers.partnerId", "=", scope.partnerId);
      parts.push(isAmong(context, "id", staff, "partnerUsers.userId"));
    }
    return eb.or(parts);
  },
  system: ({ eb }) => nothing(eb),
};

/** Where more may be read than changed. */
const writeRules: Partial<Record<Ownership, Rule>> = { "tenant-shared": byOwner };
