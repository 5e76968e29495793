import { Problem, problem } from "#server/problem";
import type { Services } from "#server/services";
import type { Limit } from "./rate-limit.ts";

/** A limit on failures, and the subject that it counts for. */
export type Counted = readonly [limit: Limit, subject: string];

/** Counts an attempt whatever becomes of it, or answers 429. */
export const takeAttempt = (services: Services, limit: Limit, subject: string): Promise<void> =>
  takeAttempts(services, [[limit, subject]]);

/**
 * As `underLimits`; attempts for the same last subject run one after the other in this process, so that parallel
 * successes never refuse each other. Not inside a transaction, which another attempt may wait for.
 */
export async function judged<R>(
  services: Services,
  counted: readonly [...Counted[], Counted],
  judge: () => Promise<R>,
): Promise<R> {
  const [limit, subject] = counted[counted.length - 1] as Counted;
  return services.turns.take(`${limit.name}:${subject}`, () => underLimits(services, counted, judge));
}

/**
 * Judges one attempt under limits on failures (docs/conventions.md, "Rate limits"): all are taken first and given back
 * unless the attempt fails.
 */
export async function underLimits<R>(
  services: Services,
  counted: readonly Counted[],
  judge: () => Promise<R>,
): Promise<R> {
  await takeAttempts(services, counted);
  try {
    const result = await judge();
    await giveBack(services, counted);
    return result;
  } catch (error) {
    if (!isFailure(error)) await giveBack(services, counted);
    throw error;
  }
}

/** An error of the server, and a further limit that admits no attempt, are no failed attempts. */
const isFailure = (error: unknown) => error instanceof Problem && error.status < 500 && error.status !== 429;

/** Counts an attempt under several limits, or answers 429 and counts it under none. */
export async function takeAttempts(services: Services, counted: readonly Counted[]): Promise<void> {
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
