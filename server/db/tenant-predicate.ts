import {
  type ColumnNode,
  type ExpressionBuilder,
  expressionBuilder,
  type InsertQueryNode,
  type OperationNode,
  type PrimitiveValueListNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
} from "kysely";
import { word } from "./dialect/text.ts";
import { type Ownership, ownership, type TableName } from "./tables.ts";

/** What a caller may reach. Made once a request by `access/`; `known` grows as access is checked. */
export type Scope =
  | { readonly kind: "system" }
  | { readonly kind: "none" }
  | {
      readonly kind: "partner";
      readonly partnerId: string;
      /** Organizations of this membership only; `null` = all, `none` = no organization. */
      readonly selected: string | "none" | null;
      /** Null = a machine. */
      readonly userId: string | null;
      /** Set where a service principal calls: active and trial organizations only, or those chosen for it. */
      readonly principal?: { readonly id: string; readonly selected: boolean };
      /** Organizations whose access was checked in this request: rows may be inserted for these. */
      readonly known: Set<string>;
    }
  | {
      readonly kind: "organization";
      readonly orgId: string;
      /** Null = every site. */
      readonly siteIds: readonly string[] | null;
      readonly userId: string | null;
    };

/** Value of the setting that row-level security on Postgres reads for this scope. */
export function wallOf(scope: Scope): string {
  if (scope.kind === "partner") return `partner:${scope.partnerId}`;
  if (scope.kind === "organization") return `org:${scope.orgId}`;
  return scope.kind;
}

/**
 * The same scope with parameters in place of its ids, the values of the parameters, and a key that is equal for all
 * scopes that compile to the same text.
 */
export function markedScope(scope: Scope, mark: (name: string) => string): MarkedScope {
  if (scope.kind === "partner") {
    const { selected, principal, userId } = scope;
    const chosen = selected === null || selected === "none" ? selected : mark("scope.selected");
    return {
      key: `partner ${chosen} ${principal?.selected} ${userId === null}`,
      scope: {
        ...scope,
        partnerId: mark("scope.partnerId"),
        selected: chosen,
        userId: userId === null ? null : mark("scope.userId"),
        ...(principal ? { principal: { ...principal, id: mark("scope.principalId") } } : {}),
      },
      values: {
        "scope.partnerId": scope.partnerId,
        "scope.selected": selected,
        "scope.userId": userId,
        "scope.principalId": principal?.id,
      },
    };
  }
  if (scope.kind !== "organization") return { key: scope.kind, scope, values: {} };
  const sites = scope.siteIds ?? [];
  return {
    key: `organization ${scope.siteIds?.length} ${scope.userId === null}`,
    scope: {
      kind: "organization",
      orgId: mark("scope.orgId"),
      siteIds: scope.siteIds && sites.map((_, index) => mark(`scope.site${index}`)),
      userId: scope.userId === null ? null : mark("scope.userId"),
    },
    values: {
      "scope.orgId": scope.orgId,
      "scope.userId": scope.userId,
      ...Object.fromEntries(sites.map((id, index) => [`scope.site${index}`, id])),
    },
  };
}

export interface MarkedScope {
  readonly key: string;
  readonly scope: Scope;
  readonly values: Readonly<Record<string, unknown>>;
}

// biome-ignore lint/suspicious/noExplicitAny: the predicate is written for any table that has the owner's columns
type Builder = ExpressionBuilder<any, any>;
type Predicate = ReturnType<Builder["and"]>;

/** The condition that narrows `table` (visible as `alias`) to what the scope reads; undefined = every row. */
export const scopePredicate = (scope: Scope, table: TableName, alias: string): OperationNode | undefined =>
  narrowed(rules[ownership[table]], { scope, alias });

/** The same of what it may change. */
export const writePredicate = (scope: Scope, table: TableName, alias: string): OperationNode | undefined =>
  narrowed(writeRules[ownership[table]] ?? rules[ownership[table]], { scope, alias });

function narrowed(rule: Rule, { scope, alias }: { scope: Scope; alias: string }): OperationNode | undefined {
  const eb = expressionBuilder() as unknown as Builder;
  const predicate = rule({ eb, scope, column: (name) => `${alias}.${name}` });
  return predicate?.toOperationNode();
}

interface Context {
  eb: Builder;
  scope: Scope;
  column(name: string): string;
}

const nothing = (eb: Builder): Predicate => eb.and([eb(eb.val(1), "=", 0)]);

/** Organizations that the scope reaches: not deleted and not being purged (docs/conventions.md, "Tenant reach"). */
function reachable(eb: Builder, scope: Scope & { kind: "partner" }) {
  const organizations = eb
    .selectFrom("organizations")
    .select("organizations.id")
    .where("organizations.partnerId", "=", scope.partnerId)
    .where("organizations.deletedAt", "is", null)
    .where("organizations.status", "<>", word("purging"));
  if (scope.principal) return ofPrincipal(eb, organizations, scope.principal);
  return scope.selected === null ? organizations : granted(eb, organizations, scope.selected);
}

/** Of these the organizations that a membership was granted. */
const granted = <Q extends { where(column: string, operator: "in", value: unknown): Q }>(
  eb: Builder,
  organizations: Q,
  membershipId: string,
): Q =>
  organizations.where(
    "organizations.id",
    "in",
    eb.selectFrom("partnerUserOrgs").select("orgId").where("membershipId", "=", membershipId),
  );

/**
 * A partner principal reaches active and trial organizations, and of these only the chosen ones if it is `selected`
 * (docs/conventions.md, "Tenant reach").
 */
function ofPrincipal<Q extends { where(column: string, operator: "in", value: unknown): Q }>(
  eb: Builder,
  organizations: Q,
  principal: { id: string; selected: boolean },
): Q {
  const live = organizations.where("organizations.status", "in", [word("active"), word("trial")]);
  if (!principal.selected) return live;
  const chosen = eb.selectFrom("partnerServicePrincipalOrgs").select("orgId").where("principalId", "=", principal.id);
  return live.where("organizations.id", "in", chosen);
}

function byOrg({ eb, scope, column }: Context): Predicate | undefined {
  if (scope.kind === "system") return undefined;
  if (scope.kind === "organization") return eb(column("orgId"), "=", scope.orgId) as Predicate;
  if (scope.kind === "none" || scope.selected === "none") return nothing(eb);
  return eb(column("orgId"), "in", reachable(eb, scope)) as Predicate;
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
  const { eb, scope, column } = context;
  if (scope.kind !== "partner" || scope.selected === "none" || scope.principal) return byOrg(context) as Predicate;
  const every = eb
    .selectFrom("organizations")
    .select("organizations.id")
    .where("organizations.partnerId", "=", scope.partnerId);
  return eb(column("orgId"), "in", scope.selected === null ? every : granted(eb, every, scope.selected)) as Predicate;
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
    return eb(column("id"), "in", reachable(eb, scope)) as Predicate;
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
    const members = byOrg({ ...context, column: (name) => `organizationUsers.${name}` }) as Predicate;
    const parts = [
      eb(
        column("id"),
        "in",
        eb
          .selectFrom("organizationUsers")
          .select("organizationUsers.userId")
          .where("organizationUsers.acceptedAt", "is not", null)
          .where(members),
      ) as Predicate,
    ];
    if (scope.userId !== null) parts.push(eb(column("id"), "=", scope.userId) as Predicate);
    if (scope.kind === "partner") {
      const staff = eb
        .selectFrom("partnerUsers")
        .select("partnerUsers.userId")
        .where("partnerUsers.acceptedAt", "is not", null)
        .where("partnerUsers.partnerId", "=", scope.partnerId);
      parts.push(eb(column("id"), "in", staff) as Predicate);
    }
    return eb.or(parts);
  },
  system: ({ eb }) => nothing(eb),
};

/** Where more may be read than changed. */
const writeRules: Partial<Record<Ownership, Rule>> = { "tenant-shared": byOwner };

/** Rows may be inserted only for owners that the scope reaches (server/README.md, "Five locks on tenancy"). */
export function checkInsert(scope: Scope, table: TableName, node: InsertQueryNode): void {
  const owner: Ownership = ownership[table];
  if (scope.kind === "system") return;
  const rows = insertedRows(node);
  for (const row of rows)
    if (!mayInsert(scope, owner, row)) throw new Error(`insert into ${table} outside the tenant scope`);
}

type Row = (column: string) => unknown;

function mayInsert(scope: Exclude<Scope, { kind: "system" }>, owner: Ownership, row: Row): boolean {
  if (scope.kind === "none") return false;
  const ownOrg = () =>
    scope.kind === "organization" ? row("orgId") === scope.orgId : scope.known.has(row("orgId") as string);
  const ownPartner = () => scope.kind === "partner" && row("partnerId") === scope.partnerId;
  const ownSite = (column: string) =>
    scope.kind !== "organization" || scope.siteIds === null || scope.siteIds.includes(row(column) as string);
  switch (owner) {
    case "org":
      return ownOrg();
    case "org+site":
    case "org+site?":
      return ownOrg() && ownSite("siteId");
    case "sites":
      return ownOrg() && (scope.kind !== "organization" || scope.siteIds === null);
    case "organizations":
    case "partner":
      return ownPartner();
    case "tenant":
    case "tenant-or-builtin":
    case "tenant-shared":
      return row("orgId") === null || row("orgId") === undefined ? ownPartner() : ownOrg();
    case "partners":
    case "member":
    case "system":
      return false;
  }
}

function insertedRows(node: InsertQueryNode): Row[] {
  if (!node.values || !ValuesNode.is(node.values)) throw new Error("INSERT takes literal rows under a tenant scope");
  const columns = (node.columns ?? []).map((column: ColumnNode) => column.column.name);
  return node.values.values.map((item) => {
    const values = ValueListNode.is(item)
      ? item.values.map((value) => (ValueNode.is(value) ? value.value : undefined))
      : (item as PrimitiveValueListNode).values;
    return (column) => values[columns.indexOf(column)];
  });
}
