import type { SchemaChange } from "../schema-change.ts";
import { postgresAuditTables } from "./audit-postgres.ts";
import { sqliteAuditTables } from "./audit-sqlite.ts";

/** The audit log (docs/audit.md). */
export const audit: SchemaChange = {
  name: "0005-audit",
  statements: (dialect) => (dialect === "postgres" ? postgresAuditTables : sqliteAuditTables),
};
