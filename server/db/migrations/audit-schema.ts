import { makeRoles } from "../roles.ts";
import { postgresOutboxCount, sqliteOutboxCount } from "./202611281220-audit-outbox-count.ts";
import { postgresAuditLimits, sqliteAuditLimits } from "./202611281230-audit-limits.ts";
import { postgresUnwritable, sqliteUnwritable } from "./202611302120-audit-unwritable-entries.ts";
import { postgresAuditTables } from "./audit-postgres.ts";
import { postgresSignedPrunes } from "./audit-prunes-postgres.ts";
import { sqliteSignedPrunes } from "./audit-prunes-sqlite.ts";
import { sqliteAuditTables } from "./audit-sqlite.ts";

/**
 * Tables, triggers and rights of the audit log (docs/audit.md, "Chains") as all migrations leave them, one statement
 * each, in order: for tests and benches that need nothing else. The role that runs them becomes the owner that seals
 * and prunes; the writer is `rmm_system`.
 */
export const auditTables: { sqlite: string[]; postgres: string[] } = {
  sqlite: [
    ...sqliteAuditTables,
    ...sqliteOutboxCount,
    ...sqliteAuditLimits,
    ...sqliteSignedPrunes,
    ...sqliteUnwritable,
    ...readers("text"),
  ],
  postgres: [
    makeRoles,
    "grant usage on schema public to rmm_app",
    ...postgresAuditTables,
    ...postgresOutboxCount,
    ...postgresAuditLimits,
    ...postgresSignedPrunes,
    ...postgresUnwritable,
    ...readers("uuid"),
  ],
};

/** What says who reads an organization's entries: its partner. */
function readers(uuid: string): string[] {
  return [
    `alter table audit_logs add column reader_partner_id ${uuid}`,
    `create table organizations (id ${uuid} primary key, partner_id ${uuid})`,
  ];
}
