import { postgresAuditTables } from "./audit-postgres.ts";
import { postgresSignedPrunes } from "./audit-prunes-postgres.ts";
import { sqliteSignedPrunes } from "./audit-prunes-sqlite.ts";
import { sqliteAuditTables } from "./audit-sqlite.ts";

/**
 * Tables, triggers and rights of the audit log as every migration together leaves them, one statement each, in order:
 * for tests and measurements that need nothing else. On Postgres the role `rmm_app` exists before; the role that runs
 * them becomes the owner that seals and prunes.
 */
export const auditTables: { sqlite: string[]; postgres: string[] } = {
  sqlite: [...sqliteAuditTables, ...sqliteSignedPrunes],
  postgres: [...postgresAuditTables, ...postgresSignedPrunes],
};
