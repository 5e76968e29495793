import { clientBlock } from "#server/platform/ip-address";
import type { Services } from "#server/services";
import { takeAttempt } from "./attempts.ts";
import type { Limit } from "./rate-limit.ts";

/** Unknown keys per minute and client address (docs/credentials.md, "Rate limit of a key"). */
export const keyGuesses: Limit = { name: "key-guess", max: 300, windowSeconds: 60 };

/**
 * Looks a key up as a guess: the attempt is counted before and given back if the key exists, whatever its state, so
 * that parallel guesses cannot pass the limit. A key that this process knows skips both, because a key may be allowed
 * more requests than an address has guesses.
 */
export async function findKey<R>(
  services: Services,
  ip: string | null,
  keyHash: string,
  find: () => Promise<R | undefined>,
): Promise<R | undefined> {
  const address = clientBlock(ip);
  if (services.knownKeys.has(keyHash)) {
    const row = await find();
    if (row !== undefined) return row;
    services.knownKeys.delete(keyHash);
  }
  await takeAttempt(services, keyGuesses, address);
  const row = await find();
  if (row === undefined) return undefined;
  await services.limiter.giveBack(keyGuesses, address);
  services.knownKeys.add(keyHash);
  return row;
}
