import { pruneInWorker } from "#server/audit/retention";
import { asSystem } from "#server/db/as-system";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";

/** Removes what is older than each organization's retention; partner and system chains are never pruned. */
export async function pruneByRetention(services: Services): Promise<void> {
  const db = asSystem(services, "prune audit");
  const { file } = services.store;
  const url = services.config.auditAdminDatabaseUrl;
  if (file === undefined && url === undefined) {
    services.log.warn("audit.retention_skipped", { reason: "AUDIT_ADMIN_DATABASE_URL is not set" });
    return;
  }
  const policies = await db.selectFrom("auditRetention").select(["orgId", "retentionDays"]).orderBy("orgId").execute();
  const now = services.clock.now();
  const tasks = policies.map(({ orgId, retentionDays }) => ({
    chain: { kind: "organization" as const, id: orgId },
    before: after(now, -retentionDays * DAY),
  }));
  let at = 0;
  for await (const pruned of pruneInWorker(file === undefined ? { url: url as string } : { file }, tasks)) {
    const orgId = policies[at]?.orgId as string;
    at += 1;
    await db
      .updateTable("auditRetention")
      .set({ lastCleanupAt: now, updatedAt: now })
      .where("orgId", "=", orgId)
      .execute();
    if (pruned)
      services.log.info("audit.pruned", {
        orgId,
        prunedCount: pruned.prunedCount,
        prunedThroughSeq: pruned.prunedThroughSeq,
      });
  }
}
