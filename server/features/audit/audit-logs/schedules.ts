import { chainsOfAnchorFile, completeAnchorFile } from "#server/audit/anchor-copies";
import type { ChainRef } from "#server/audit/chain";
import { deliverAnchors } from "#server/audit/deliver-anchors";
import { closeRefusalWindows } from "#server/audit/fold-refusals";
import { auditHandle } from "#server/audit/handle";
import { openIncident, recordVerdict } from "#server/audit/incidents";
import { anchorGrowth, verifyOptions } from "#server/audit/keeper";
import { listChains } from "#server/audit/list-chains";
import { type VerifyOutcome, verifyEach } from "#server/audit/verify-in-worker";
import { asSystem } from "#server/db/as-system";
import type { Schedule } from "#server/jobs/scheduler";
import type { Services } from "#server/services";
import { checkOutbox } from "./check-outbox.ts";

/** Hourly anchors and their deliveries, daily verification of every chain (docs/platform.md, "Schedules"). */
export const schedules: readonly Schedule[] = [
  { name: "audit.anchors", cron: "45 * * * *", run: anchorGrowth },
  { name: "audit.outbox", cron: "25 * * * *", run: checkOutbox },
  { name: "audit.verify", cron: "15 4 * * *", run: verifyEveryChain },
  { name: "audit.deliveries", cron: "* * * * *", run: deliverAnchors },
  { name: "audit.refusals", cron: "* * * * *", run: foldRefusals },
];

/** Entries for refusals that were only counted (docs/audit.md, "Repeated refusals"). */
export async function foldRefusals(services: Services): Promise<void> {
  const db = auditHandle(asSystem(services, "record refusal"));
  await closeRefusalWindows(db, new Date(services.clock.nowMs()));
  services.wakeAuditWriter();
}

/**
 * Verifies every chain that the database has a trace of or the anchor file names. One that does not hold, or cannot be
 * verified, opens an incident; the others go on. A server that stops cuts it off.
 */
export async function verifyEveryChain(services: Services): Promise<void> {
  if (!services.config.auditChainVerify) return;
  await completeAnchorFile(services);
  const chains: ChainRef[] = [];
  const named = await chainsOfAnchorFile(services);
  for await (const chain of listChains(auditHandle(asSystem(services, "write audit chain")), named)) chains.push(chain);
  const options = { ...verifyOptions(services), until: services.store.signals.stopping };
  for await (const outcome of verifyEach(options, chains)) await recordOutcome(services, outcome);
}

const recordOutcome = (services: Services, { chain, result, error }: VerifyOutcome): Promise<void> =>
  result === undefined
    ? openIncident(services, chain, { reason: `the chain cannot be verified: ${error}` })
    : recordVerdict(services, chain, result);
