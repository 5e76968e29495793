import type { SchemaChange } from "../schema-change.ts";
import { postgresAuditTables } from "./audit-postgres.ts";
import { sqliteAuditTables } from "./audit-sqlite.ts";

/** The record that nobody rewrites (contract 4 §8.1). */
export const audit: SchemaChange = {
  name: "0005-audit",
  statements: (dialect) => (dialect === "postgres" ? postgresAuditTables : sqliteAuditTables),
};
