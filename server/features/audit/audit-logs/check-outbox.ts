import { auditHandle } from "#server/audit/handle";
import { missingFromOutbox } from "#server/audit/outbox";
import { foldOutboxCounts } from "#server/audit/postgres-writer";
import { asSystem } from "#server/db/as-system";
import type { Services } from "#server/services";

/**
 * Whether every entry that left the outbox reached the log (docs/audit.md, "Outbox and writer"). A difference remains,
 * and is reported every hour: logged as an error (p1, for log monitoring) and shown in the metrics.
 */
export async function checkOutbox(services: Services): Promise<void> {
  const db = auditHandle(asSystem(services, "write audit chain"));
  if (services.store.dialect === "postgres") await foldOutboxCounts(db);
  const missing = await missingFromOutbox(db);
  services.metrics.missingAuditEntries.set(Math.abs(missing));
  if (missing !== 0) services.log.error("audit.outbox_incomplete", { severity: "p1", missing });
}
