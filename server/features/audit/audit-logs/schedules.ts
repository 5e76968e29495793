import type { ChainRef } from "#server/audit/chain";
import { closeRefusalWindows } from "#server/audit/fold-refusals";
import { auditHandle } from "#server/audit/handle";
import { anchorGrowth, verifyOptions } from "#server/audit/keeper";
import { listChains } from "#server/audit/list-chains";
import { verifyInWorker } from "#server/audit/verify-in-worker";
import { asSystem } from "#server/db/as-system";
import type { Schedule } from "#server/jobs/scheduler";
import type { Services } from "#server/services";
import { checkOutbox } from "./check-outbox.ts";

/** Hourly anchors, daily verification of every chain (docs/platform.md, "Schedules"). */
export const schedules: readonly Schedule[] = [
  { name: "audit.anchors", cron: "45 * * * *", run: anchorGrowth },
  { name: "audit.outbox", cron: "25 * * * *", run: checkOutbox },
  { name: "audit.verify", cron: "15 4 * * *", run: verifyEveryChain },
  { name: "audit.refusals", cron: "* * * * *", run: foldRefusals },
];

/** Entries for refusals that were only counted (docs/audit.md, "Repeated refusals"). */
export async function foldRefusals(services: Services): Promise<void> {
  const db = auditHandle(asSystem(services, "record refusal"));
  await closeRefusalWindows(db, new Date(services.clock.nowMs()));
  services.wakeAuditWriter();
}

/** A broken chain is logged as an error (p1, for log monitoring) and counted in the metrics. */
export async function verifyEveryChain(services: Services): Promise<void> {
  if (!services.config.auditChainVerify) return;
  const chains: ChainRef[] = [];
  for await (const chain of listChains(auditHandle(asSystem(services, "write audit chain")))) chains.push(chain);
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
