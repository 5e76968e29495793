import { postgresAuditTables } from "./audit-postgres.ts";
import { sqliteAuditTables } from "./audit-sqlite.ts";

/**
 * Tables, triggers and rights of the audit log (docs/audit.md, "Chains"), one statement each, in order. On Postgres the
 * role `rmm_app` must exist; the role that runs them becomes the owner that seals and prunes.
 */
export const auditTables: { sqlite: string[]; postgres: string[] } = {
  sqlite: sqliteAuditTables,
  postgres: postgresAuditTables,
};
