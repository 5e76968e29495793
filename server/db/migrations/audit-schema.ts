import { postgresAuditTables } from "./audit-postgres.ts";
import { sqliteAuditTables } from "./audit-sqlite.ts";

/**
 * Tables, triggers and rights of the audit log (contract 4 §8.1), one statement each, in order. On Postgres the role
 * `rmm_app` exists before; the role that runs them becomes the owner that seals and prunes.
 */
export const auditTables: { sqlite: string[]; postgres: string[] } = {
  sqlite: sqliteAuditTables,
  postgres: postgresAuditTables,
};
