import { problem } from "#server/problem";
import type { Services } from "#server/services";
import type { Limit } from "./rate-limit.ts";

/**
 * Counts an attempt before it is judged, or answers 429. A success gives it back (`limiter.giveBack`), so that only
 * failures count and parallel guesses cannot pass the limit.
 */
export async function takeAttempt(services: Services, limit: Limit, subject: string): Promise<void> {
  const allowance = await services.limiter.take(limit, subject);
  if (!allowance.allowed) throw rateLimited(services, allowance.resetAtMs);
}

/** Answers 429 where a limit of failures is used up; takes nothing. */
export async function refuseWhenUsedUp(services: Services, limit: Limit, subject: string): Promise<void> {
  const allowance = await services.limiter.peek(limit, subject);
  if (!allowance.allowed) throw rateLimited(services, allowance.resetAtMs);
}

/** 429 with the first moment a slot can free. */
export function rateLimited(services: Pick<Services, "clock">, resetAtMs: number) {
  const seconds = Math.max(1, Math.ceil((resetAtMs - services.clock.nowMs()) / 1_000));
  return problem("RATE_LIMITED", { retryAfterSeconds: seconds });
}
