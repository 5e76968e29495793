import type { AuditTables } from "../../audit/tables.ts";
import type { Fixed } from "../column-types.ts";
import type { Declared } from "../table-declaration.ts";

/** How long an organization's entries are kept. */
export interface AuditRetentionTable {
  orgId: Fixed<string>;
  retentionDays: number;
  lastCleanupAt: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** Beside the record itself, whose columns are the audit room's own (`server/audit/tables.ts`). */
export interface AuditAreaTables {
  auditRetention: AuditRetentionTable;
}

export const auditTables = {
  // Nobody shortens what is recorded of them.
  auditRetention: { owner: "org", writtenBy: "audit/audit-retention", lifted: ["update", "delete"] },
  auditOutbox: { owner: "system", writtenBy: "audit", json: ["entry"] },
  auditOutboxCounts: { owner: "system", writtenBy: "audit" },
  auditLogs: { owner: "tenant", writtenBy: "audit" },
  auditChain: { owner: "system", writtenBy: "audit" },
  auditAnchors: { owner: "system", writtenBy: "audit" },
  auditPrunes: { owner: "system", writtenBy: "audit", booleans: ["restates"] },
  auditRefusals: { owner: "system", writtenBy: "audit" },
  auditUnsignedPrunes: { owner: "system", writtenBy: "audit" },
  auditIncidents: { owner: "system", writtenBy: "audit" },
} as const satisfies Declared<AuditAreaTables & AuditTables>;
