import type { ExpressionBuilder, SelectQueryBuilder } from "kysely";
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

/** Callers confined to sites do not see what agents of other sites did (docs/audit.md, "Reading entries"). */
export function visible(call: Call) {
  const query = call.db.selectFrom("auditLogs").select(columns);
  if (call.scope.kind !== "organization" || call.scope.siteIds === null) return query;
  return query.where((eb) =>
    eb.or([
      eb("auditLogs.actorType", "<>", "agent"),
      eb("auditLogs.actorId", "in", eb.selectFrom("devices").select("devices.id")),
    ]),
  );
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
