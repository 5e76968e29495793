import type { Endpoint } from "#contract/core/endpoint";
import type { auditRetention } from "#contract/resources/audit/audit-retention";
import { findOrg } from "#server/access/org-access";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { RETENTION_DAYS_DEFAULT } from "./hooks.ts";
import { enforcement, retentionOf } from "./queries.ts";

type GetCall = typeof auditRetention.get extends Endpoint<infer T> ? Call<T> : never;

/** What is kept, or what is only proposed (docs/audit.md, "Retention"). */
export async function getAuditRetention(call: GetCall) {
  const org = await findOrg(call, call.params.id);
  if (!org) throw problem("NOT_FOUND");
  const row = await retentionOf(call.db, org.id);
  return {
    orgId: org.id,
    retentionDays: row?.retentionDays ?? RETENTION_DAYS_DEFAULT,
    configured: row !== undefined,
    archiveToS3: false as const,
    lastCleanupAt: row?.lastCleanupAt ?? null,
    ...enforcement(call.services),
  };
}
