import type { SelectQueryBuilder } from "kysely";
import { valueAt } from "#server/db/dialect/json";
import { preparedRows } from "#server/db/prepared";
import type { Database } from "#server/db/tables";
import { type Asked, entries, type Form } from "./queries.ts";
import { complianceActions, dataChangesBeside, securityActions } from "./report-actions.ts";

/** Which entries a report counts. */
export type Counted = "people" | "security" | "compliance" | "all";

/** The newest entries that a report counts, without their details: they may be long. */
export const countedEntries = preparedRows(
  (db, { limit, ...asked }: Asked & { limit: number }, { counted, dialect }: Form & { counted: Counted }) =>
    narrowed(entries(db, asked, { dialect }), counted)
      .select((eb) => [
        "auditLogs.id",
        "auditLogs.timestamp",
        "auditLogs.actorType",
        "auditLogs.actorId",
        "auditLogs.actorEmail",
        "auditLogs.action",
        "auditLogs.result",
        valueAt(eb.ref("auditLogs.details"), "actorName", dialect).as("nameThen"),
      ])
      .orderBy("auditLogs.timestamp", "desc")
      .orderBy("auditLogs.id", "desc")
      .limit(limit),
);

function narrowed(query: SelectQueryBuilder<Database, "auditLogs", object>, counted: Counted) {
  if (counted === "people") return query.where("auditLogs.actorType", "in", ["user", "api_key"]);
  if (counted === "security") return query.where("auditLogs.action", "in", securityActions);
  if (counted === "all") return query;
  return query.where((eb) =>
    eb.or([
      eb("auditLogs.action", "in", [...complianceActions, ...dataChangesBeside]),
      eb("auditLogs.action", "like", "data.%"),
    ]),
  );
}
