import type { SchemaChange } from "../schema-change.ts";
import { postgresAuditTables } from "./audit-postgres.ts";
import { sqliteAuditTables } from "./audit-sqlite.ts";

/** The audit log (docs/audit.md). */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? postgresAuditTables : sqliteAuditTables),
};
