import type { ExpressionBuilder, SelectQueryBuilder } from "kysely";
import { user } from "#server/access/principal";
import { arrayIsWithin, hasArray } from "#server/db/dialect/json";
import { contains } from "#server/db/dialect/text";
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
}

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

/** Entries the caller may read, narrowed by the filters; not ordered, not paged. */
export async function auditEntries(call: Call, filters: AuditFilters) {
  const { orgId, user, action, resource, from, to } = filters;
  let query = visible(call);
  if (orgId !== undefined) {
    await refuseForeignRecord(call, orgId);
    query = query.where("auditLogs.orgId", "=", orgId);
  }
  if (user) query = query.where((eb) => eb.or([contains(eb.ref("auditLogs.actorEmail"), user), byName(eb, user)]));
  if (action) query = query.where((eb) => contains(eb.ref("auditLogs.action"), action));
  if (resource)
    query = query.where((eb) => anyContains(eb, ["auditLogs.resourceType", "auditLogs.resourceName"], resource));
  if (from) query = query.where("auditLogs.timestamp", ">=", from);
  if (to) query = query.where("auditLogs.timestamp", "<=", to);
  return query;
}

/** Entries that are about no site, and not about people or secrets either. */
const organizationWide = ["organization", "filter", "custom_field", "policy", "script", "maintenance_window"];

/** The entries that the caller may read at all (docs/audit.md, "Who reads which entries"). */
export function visible(call: Call) {
  const query = call.db.selectFrom("auditLogs").select(columns);
  const { userId, scope, orgAccess, allowedSiteIds } = user(call);
  const own = (eb: Builder) => eb.and([eb("auditLogs.actorType", "=", "user"), eb("auditLogs.actorId", "=", userId)]);
  if (scope === "partner" && orgAccess !== "all")
    return query.where((eb) => eb.or([eb("auditLogs.orgId", "is not", null), own(eb)]));
  if (allowedSiteIds === null) return query;
  const { dialect } = call.services.store;
  return query.where((eb) => {
    const details = eb.ref("auditLogs.details");
    return eb.or([
      own(eb),
      arrayIsWithin(details, "siteIds", allowedSiteIds, dialect),
      eb.and([eb.not(hasArray(details, "siteIds", dialect)), eb("auditLogs.resourceType", "in", organizationWide)]),
    ]);
  });
}

/** `q` searches the fields of an entry, its details included. */
export const matching = <O>(query: SelectQueryBuilder<Database, "auditLogs", O>, text: string) =>
  query.where((eb) =>
    anyContains(
      eb,
      [
        "auditLogs.action",
        "auditLogs.actorEmail",
        "auditLogs.resourceType",
        "auditLogs.resourceName",
        "auditLogs.details",
      ],
      text,
    ),
  );

type TextColumn = "action" | "actorEmail" | "resourceType" | "resourceName" | "details";

const anyContains = (eb: Builder, names: readonly `auditLogs.${TextColumn}`[], text: string) =>
  eb.or(names.map((name) => contains(eb.ref(name), text)));

const byName = (eb: Builder, text: string) =>
  eb(
    "auditLogs.actorId",
    "in",
    eb
      .selectFrom("users")
      .select("users.id")
      .where((inner) => contains(inner.ref("users.name"), text)),
  );
