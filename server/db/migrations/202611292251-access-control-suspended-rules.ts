import type { SchemaChange } from "../schema-change.ts";

/**
 * Since release 0.112.0 rules that approved by themselves before do so again only once somebody has approved them anew
 * (docs/privileged-access.md, "Suspended rules"). Runs once, and finds nothing in a new database.
 */
export const migration: SchemaChange = {
  statements: () => [
    "update pam_rules set verdict = 'require_approval', suspended_verdict = 'auto_approve' where verdict = 'auto_approve'",
  ],
};
