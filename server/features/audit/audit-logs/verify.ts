import type { Endpoint } from "#contract/core/endpoint";
import type { auditLogs } from "#contract/resources/audit/audit-logs";
import { takeAttempts } from "#server/access/attempts";
import { completeAnchorFile } from "#server/audit/anchor-copies";
import { AnchorRefused, takeAnchor } from "#server/audit/anchors";
import type { ChainRef } from "#server/audit/chain";
import { auditHandle } from "#server/audit/handle";
import { openIncident, recordVerdict } from "#server/audit/incidents";
import { anchorOptions, verifyOptions } from "#server/audit/keeper";
import { verifyInWorker } from "#server/audit/verify-in-worker";
import type { AuditVerify } from "#server/audit/verify-result";
import { asSystem } from "#server/db/as-system";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import type { Services } from "#server/services";
import { chosenChain } from "./chain.ts";
import { SharedRuns } from "./shared-runs.ts";

type VerifyCall = typeof auditLogs.verify extends Endpoint<infer T> ? Call<T> : never;

/** Per user and chain. */
export const verifyLimit = { name: "audit-verify", max: 30, windowSeconds: 3_600 };
/** Per user: enough for every chain of a large partner, and those of single customers beside. */
export const verifyAllLimit = { name: "audit-verify-all", max: 2_000, windowSeconds: 3_600 };

/** What the limit of a chain counts by. */
export const verifySubject = (userId: string, { kind, id }: ChainRef): string => `${userId} ${kind} ${id}`;

/** Verifies a chain in a separate thread; a broken chain is an answer, not an error (docs/audit.md, "Verification"). */
export async function verifyAuditChain(call: VerifyCall): Promise<AuditVerify> {
  const chain = await chosenChain(call, call.body);
  const { userId, partnerId } = user(call);
  const counted = [
    [verifyLimit, verifySubject(userId, chain)],
    [verifyAllLimit, userId],
  ] as const;
  await takeAttempts(call.services, counted);
  call.audit.note({ owner: ownerOf(chain), resource: { type: "audit_chain", id: chain.id, name: chain.kind } });
  const until = AbortSignal.any([call.gone, call.services.store.signals.stopping]);
  const run = sharedRun(call.services, chain, { partner: partnerId ?? "installation", until });
  if (run === undefined) {
    for (const [limit, subject] of counted) await call.services.limiter.giveBack(limit, subject);
    throw problem("RATE_LIMITED", { retryAfterSeconds: BUSY_SECONDS });
  }
  const result = await run.catch((error) => {
    throw error === until.reason ? problem("SERVICE_UNAVAILABLE", { cause: error, retryAfterSeconds: 1 }) : error;
  });
  call.audit.note({
    details: { ok: result.ok, entriesChecked: result.entriesChecked, breakCount: result.breakCount },
  });
  return result;
}

const BUSY_SECONDS = 5;
const running = new WeakMap<Services, SharedRuns<AuditVerify>>();

function sharedRun(services: Services, chain: ChainRef, whose: { partner: string; until: AbortSignal }) {
  const runs = running.get(services) ?? new SharedRuns<AuditVerify>();
  running.set(services, runs);
  const key = `${chain.kind} ${chain.id}`;
  return runs.join({ ...whose, key, work: (until) => verifyOne(services, chain, until) });
}

/**
 * Verifies and, when all is well, anchors the head that was found (docs/audit.md, "Anchors"). The verdict is answered
 * whatever becomes of anchor, incident and anchor file. When `until` aborts first there is no verdict, and nothing is
 * recorded of the chain.
 */
export async function verifyOne(services: Services, chain: ChainRef, until?: AbortSignal): Promise<AuditVerify> {
  await completeAnchorFile(services, [chain]);
  for await (const result of verifyInWorker({ ...verifyOptions(services), until }, [chain])) {
    try {
      await recordVerdict(services, chain, result);
      return result.ok ? await anchored(services, chain, result) : result;
    } catch (error) {
      services.log.error("audit.verdict_not_recorded", { chain, error: error as Error });
      return result;
    }
  }
  throw problem("INTERNAL_ERROR", { cause: "the verifier ended without a result" });
}

async function anchored(services: Services, chain: ChainRef, result: AuditVerify): Promise<AuditVerify> {
  try {
    const options = { ...anchorOptions(services), head: result.head };
    const anchor = await takeAnchor(auditHandle(asSystem(services, "write audit chain")), chain, options);
    return anchor ? { ...result, anchors: { ...result.anchors, latest: anchor } } : result;
  } catch (error) {
    if (!(error instanceof AnchorRefused)) throw error;
    await openIncident(services, chain, { reason: error.message });
    return result;
  }
}

const ownerOf = (chain: ChainRef) =>
  chain.kind === "organization" ? { orgId: chain.id } : chain.kind === "partner" ? { partnerId: chain.id } : {};
