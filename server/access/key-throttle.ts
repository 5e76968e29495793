import type { Services } from "#server/services";
import { refuseWhenUsedUp } from "./attempts.ts";
import type { Limit } from "./rate-limit.ts";

/** Unknown keys per minute and client address (docs/credentials.md, "Rate limit of a key"). */
const guesses: Limit = { name: "key-guess", max: 300, windowSeconds: 60 };

/**
 * Refuses an address that has guessed too often, before any lookup. Only keys that do not exist count: an existing key
 * may be allowed 100,000 requests an hour, which is more than this limit lets through from one address.
 */
export const refuseGuesser = (services: Services, ip: string | null): Promise<void> =>
  refuseWhenUsedUp(services, guesses, ip ?? "unknown");

export async function countGuess(services: Services, ip: string | null): Promise<void> {
  await services.limiter.take(guesses, ip ?? "unknown");
}
