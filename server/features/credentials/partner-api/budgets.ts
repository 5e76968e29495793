import { partnerPrincipal } from "#server/access/principal";
import type { Limit } from "#server/access/rate-limit";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

const HOUR_SECONDS = 3_600;
const writes: Limit = { name: "partner-writes", max: 120, windowSeconds: HOUR_SECONDS };
const mints: Limit = { name: "partner-mints", max: 10, windowSeconds: HOUR_SECONDS };
const partnerMints: Limit = { name: "partner-mints-all", max: 100, windowSeconds: HOUR_SECONDS };

/**
 * Takes a write from the principal's hour, as part of the write: what is refused in the end, or answered from
 * memory, has cost nothing (specification 2, "Limits"). Writes of one principal wait for each other here.
 */
export const takeWrite = (call: Call): Promise<void> =>
  take(call, [{ limit: writes, subject: partnerPrincipal(call).principalId, name: "writes" }]);

/** A write that mints an enrollment key: also one of the principal's and of the partner's mints. */
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

/** Joins the open transaction. Always in the order given, so that two writes never wait for each other in a ring. */
async function take(call: Call, budgets: readonly Budget[]): Promise<void> {
  for (const { limit, subject, name } of budgets) {
    const allowance = await call.asSystem("rate limit", (all) => call.services.limiter.takeWithin(all, limit, subject));
    if (allowance.allowed) continue;
    const seconds = Math.max(1, Math.ceil((allowance.resetAtMs - call.clock.nowMs()) / 1_000));
    throw problem("RATE_LIMITED", { details: { limit: name }, retryAfterSeconds: seconds });
  }
}
