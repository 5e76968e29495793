import type { ChainRef } from "#server/audit/chain";
import { closeRefusalWindows } from "#server/audit/fold-refusals";
import { auditHandle } from "#server/audit/handle";
import { anchorGrowth, verifyOptions } from "#server/audit/keeper";
import { listChains } from "#server/audit/list-chains";
import { pruneInWorker } from "#server/audit/retention";
import { verifyInWorker } from "#server/audit/verify-in-worker";
import { systemHandle } from "#server/db/unit-of-work";
import type { Schedule } from "#server/jobs/scheduler";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";

/** Hourly anchors, daily verification of every chain, daily retention (docs/platform.md, "Schedules"). */
export const schedules: readonly Schedule[] = [
  { name: "audit.anchors", cron: "45 * * * *", run: anchorGrowth },
  { name: "audit.verify", cron: "15 4 * * *", run: verifyEveryChain },
  { name: "audit.refusals", cron: "* * * * *", run: foldRefusals },
  { name: "audit.retention", cron: "30 3 * * *", run: pruneByRetention },
];

/** Entries for refusals that were only counted (docs/audit.md, "Repeated refusals"). */
export async function foldRefusals({ store, clock, wakeAuditWriter }: Services): Promise<void> {
  await closeRefusalWindows(auditHandle(systemHandle(store)), new Date(clock.nowMs()));
  wakeAuditWriter();
}

/** A broken chain is logged as an error (p1, for log monitoring) and counted in the metrics. */
export async function verifyEveryChain(services: Services): Promise<void> {
  if (!services.config.auditChainVerify) return;
  const chains: ChainRef[] = [];
  for await (const chain of listChains(auditHandle(systemHandle(services.store)))) chains.push(chain);
  let broken = 0;
  let at = 0;
  for await (const result of verifyInWorker(verifyOptions(services), chains)) {
    const chain = chains[at];
    at += 1;
    if (result.ok) continue;
    broken += 1;
    services.log.error("audit.chain_broken", {
      severity: "p1",
      chain,
      breakCount: result.breakCount,
      breaks: result.breaks.slice(0, 5),
    });
  }
  services.metrics.brokenChains.set(broken);
}

/** Removes what is older than each organization's retention; partner and system chains are never pruned. */
export async function pruneByRetention(services: Services): Promise<void> {
  const db = systemHandle(services.store);
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
