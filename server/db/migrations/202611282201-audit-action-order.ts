import type { SchemaChange } from "../schema-change.ts";

/** The indexes that order entries hold the action: filtering by it costs no look at a row (docs/audit.md, "Reading entries"). */
export const migration: SchemaChange = {
  statements: () => [
    "drop index audit_logs_reader",
    `create index audit_logs_reader on audit_logs
      (reader_partner_id, "timestamp" desc, id desc, org_id, partner_id, action)`,
    "drop index audit_logs_org",
    `create index audit_logs_org on audit_logs (org_id, "timestamp" desc, id desc, action) where org_id is not null`,
  ],
};
