import { clientBlock } from "#server/platform/ip-address";
import type { Services } from "#server/services";
import { takeAttempt } from "./attempts.ts";
import type { Limit } from "./rate-limit.ts";

interface Guess {
  readonly limit: Limit;
  readonly ip: string | null;
}

/**
 * Looks the hash of a key or token up as a guess: the attempt is counted before and given back if there is one, whatever
 * its state, so that parallel guesses cannot pass the limit. What this process knows skips both, because a key may be
 * allowed more requests than an address has guesses.
 */
export async function findSecret<R>(
  services: Services,
  { hash, ...guess }: Guess & { readonly hash: string },
  find: () => Promise<R | undefined>,
): Promise<R | undefined> {
  if (services.knownKeys.has(hash)) {
    const row = await find();
    if (row !== undefined) return row;
    services.knownKeys.delete(hash);
  }
  await refuseGuess(services, guess);
  const row = await find();
  if (row === undefined) return undefined;
  await services.limiter.giveBack(guess.limit, clientBlock(guess.ip));
  services.knownKeys.add(hash);
  return row;
}

/** Counts a guess, or answers 429. */
export const refuseGuess = (services: Services, { limit, ip }: Guess): Promise<void> =>
  takeAttempt(services, limit, clientBlock(ip));
