import { Problem, problem } from "#server/problem";
import type { Services } from "#server/services";
import type { Limit } from "./rate-limit.ts";

/** A limit on failures, and the subject that it counts for. */
export type Counted = readonly [limit: Limit, subject: string];

/**
 * Counts an attempt before it is judged, or answers 429. A success gives it back (`limiter.giveBack`), so that only
 * failures count and parallel guesses cannot pass the limit.
 */
export async function takeAttempt(services: Services, limit: Limit, subject: string): Promise<void> {
  const allowance = await services.limiter.take(limit, subject);
  if (!allowance.allowed) throw rateLimited(services, allowance.resetAtMs);
}

/**
 * Judges one attempt under limits on failures (docs/conventions.md, "Rate limits"): all are taken first and given back
 * unless the attempt is refused. Attempts for the same last subject run one after the other in this process, so that
 * parallel successes never refuse each other.
 */
export async function judged<R>(
  services: Services,
  counted: readonly [...Counted[], Counted],
  judge: () => Promise<R>,
): Promise<R> {
  const [limit, subject] = counted[counted.length - 1] as Counted;
  return services.turns.take(`${limit.name}:${subject}`, async () => {
    await takeAll(services, counted);
    try {
      const result = await judge();
      await giveBack(services, counted);
      return result;
    } catch (error) {
      // An error of the server is not a failed attempt.
      if (!(error instanceof Problem)) await giveBack(services, counted);
      throw error;
    }
  });
}

async function takeAll(services: Services, counted: readonly Counted[]): Promise<void> {
  for (const [index, [limit, subject]] of counted.entries()) {
    const allowance = await services.limiter.take(limit, subject);
    if (allowance.allowed) continue;
    await giveBack(services, counted.slice(0, index));
    throw rateLimited(services, allowance.resetAtMs);
  }
}

async function giveBack(services: Services, counted: readonly Counted[]): Promise<void> {
  for (const [limit, subject] of counted) await services.limiter.giveBack(limit, subject);
}

/** 429 with the first moment a slot can free. */
export function rateLimited(services: Pick<Services, "clock">, resetAtMs: number) {
  const seconds = Math.max(1, Math.ceil((resetAtMs - services.clock.nowMs()) / 1_000));
  return problem("RATE_LIMITED", { retryAfterSeconds: seconds });
}
