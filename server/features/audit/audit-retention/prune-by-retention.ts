import { keepStatement } from "#server/audit/anchor-copies";
import type { ChainRef } from "#server/audit/chain";
import { openIncident } from "#server/audit/incidents";
import { pruneSetup } from "#server/audit/keeper";
import { type PruneOutcome, type PruneTask, pruneInWorker } from "#server/audit/retention";
import { asSystem } from "#server/db/as-system";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";

/** While a chain's incident is open nothing of it is removed, but not for ever: retention has an end. */
const KEPT_BROKEN_DAYS = 90;

/** Removes what is older than each organization's retention; partner and system chains are never pruned. */
export async function pruneByRetention(services: Services): Promise<void> {
  const setup = pruneSetup(services);
  if (!setup) {
    services.log.warn("audit.retention_skipped", { reason: "AUDIT_ADMIN_DATABASE_URL is not set" });
    return;
  }
  const tasks = await pruneTasks(services);
  for await (const outcome of pruneInWorker(setup, tasks)) await recordPruned(services, outcome);
}

async function pruneTasks(services: Services): Promise<PruneTask[]> {
  const db = asSystem(services, "prune audit");
  const now = services.clock.now();
  const policies = await db.selectFrom("auditRetention").select(["orgId", "retentionDays"]).orderBy("orgId").execute();
  const open = await db
    .selectFrom("auditIncidents")
    .select(["chainId", "openedAt"])
    .where("chainKind", "=", "organization")
    .execute();
  const openSince = new Map(open.map(({ chainId, openedAt }) => [chainId, openedAt]));
  return policies.flatMap(({ orgId, retentionDays }): PruneTask[] => {
    const chain: ChainRef = { kind: "organization", id: orgId };
    const task = { chain, before: after(now, -retentionDays * DAY), now };
    const since = openSince.get(orgId);
    if (since === undefined) return [task];
    return since <= after(now, -KEPT_BROKEN_DAYS * DAY) ? [{ ...task, evenBroken: true }] : [];
  });
}

async function recordPruned(services: Services, { chain, records, stop, error }: PruneOutcome): Promise<void> {
  for (const record of records) await keepStatement(services, record);
  if (stop) {
    const reason = `retention stopped at position ${stop.chainSeq}: ${stop.reason}`;
    await openIncident(services, chain, { reason });
  }
  if (error !== undefined) {
    services.log.error("audit.retention_failed", { chain, reason: error });
    return;
  }
  const now = services.clock.now();
  await asSystem(services, "prune audit")
    .updateTable("auditRetention")
    .set({ lastCleanupAt: now, updatedAt: now })
    .where("orgId", "=", chain.id)
    .execute();
  for (const { prunedCount, prunedThroughSeq } of records)
    services.log.info("audit.pruned", { orgId: chain.id, prunedCount, prunedThroughSeq });
}
