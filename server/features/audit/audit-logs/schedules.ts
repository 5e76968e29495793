import { chainsOfAnchorFile, completeAnchorFile, keepStatement } from "#server/audit/anchor-copies";
import type { ChainRef } from "#server/audit/chain";
import { auditHandle } from "#server/audit/handle";
import { openIncident, recordVerdict } from "#server/audit/incidents";
import { anchorGrowth, pruneSetup, verifyOptions } from "#server/audit/keeper";
import { listChains } from "#server/audit/list-chains";
import { type PruneOutcome, type PruneTask, pruneInWorker } from "#server/audit/retention";
import { type VerifyOutcome, verifyEach } from "#server/audit/verify-in-worker";
import { systemHandle } from "#server/db/unit-of-work";
import type { Schedule } from "#server/jobs/scheduler";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";

/** Hourly anchors, daily verification of every chain, daily retention (contract 4 §8). */
export const schedules: readonly Schedule[] = [
  { name: "audit.anchors", cron: "45 * * * *", run: anchorGrowth },
  { name: "audit.verify", cron: "15 4 * * *", run: verifyEveryChain },
  { name: "audit.retention", cron: "30 3 * * *", run: pruneByRetention },
];

/**
 * Verifies every chain that the database has a trace of or the anchor file names. One that does not hold, or cannot be
 * verified, opens an incident; the others go on.
 */
export async function verifyEveryChain(services: Services): Promise<void> {
  if (!services.config.auditChainVerify) return;
  await completeAnchorFile(services);
  const chains: ChainRef[] = [];
  const named = await chainsOfAnchorFile(services);
  for await (const chain of listChains(auditHandle(systemHandle(services.store)), named)) chains.push(chain);
  for await (const outcome of verifyEach(verifyOptions(services), chains)) await recordOutcome(services, outcome);
}

const recordOutcome = (services: Services, { chain, result, error }: VerifyOutcome): Promise<void> =>
  result === undefined
    ? openIncident(services, chain, { reason: `the chain cannot be verified: ${error}` })
    : recordVerdict(services, chain, result);

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
  const db = systemHandle(services.store);
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
  await systemHandle(services.store)
    .updateTable("auditRetention")
    .set({ lastCleanupAt: now, updatedAt: now })
    .where("orgId", "=", chain.id)
    .execute();
  for (const { prunedCount, prunedThroughSeq } of records)
    services.log.info("audit.pruned", { orgId: chain.id, prunedCount, prunedThroughSeq });
}
