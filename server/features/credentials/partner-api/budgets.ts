import { partnerPrincipal } from "#server/access/principal";
import type { Limit } from "#server/access/rate-limit";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

const HOUR_SECONDS = 3_600;
const writes: Limit = { name: "partner-writes", max: 120, windowSeconds: HOUR_SECONDS };
const mints: Limit = { name: "partner-mints", max: 10, windowSeconds: HOUR_SECONDS };
const partnerMints: Limit = { name: "partner-mints-all", max: 100, windowSeconds: HOUR_SECONDS };

/**
 * Counts a write against the principal's hour, in the write's own transaction: a refused or replayed write costs
 * nothing (docs/credentials.md, "Budgets of partner writes"). After access was checked, so that no one who lost it hears
 * of an empty budget first. Writes of one principal run one after the other.
 */
export const takeWrite = (call: Call): Promise<void> =>
  take(call, [{ limit: writes, subject: partnerPrincipal(call).principalId, name: "writes" }]);

/** A write that mints an enrollment key also counts against the mints of the principal and the partner. */
export function takeMint(call: Call): Promise<void> {
  const { principalId, partnerId } = partnerPrincipal(call);
  return take(call, [
    { limit: writes, subject: principalId, name: "writes" },
    { limit: mints, subject: principalId, name: "mints" },
    { limit: partnerMints, subject: partnerId, name: "mints" },
  ]);
}

interface Budget {
  limit: Limit;
  subject: string;
  name: "writes" | "mints";
}

/** Joins the open transaction. Always in the order given, so that two writes cannot deadlock. */
async function take(call: Call, budgets: readonly Budget[]): Promise<void> {
  for (const { limit, subject, name } of budgets) {
    const allowance = await call.asSystem("rate limit", (all) => call.services.limiter.takeWithin(all, limit, subject));
    if (allowance.allowed) continue;
    const seconds = Math.max(1, Math.ceil((allowance.resetAtMs - call.clock.nowMs()) / 1_000));
    // The first run has paid for what is sent again.
    throw problem("RATE_LIMITED", { details: { limit: name }, retryAfterSeconds: seconds, onReplay: "passes" });
  }
}
