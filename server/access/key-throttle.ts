import { clientBlock } from "#server/platform/ip-address";
import type { Services } from "#server/services";
import { refuseWhenUsedUp } from "./attempts.ts";
import type { Limit } from "./rate-limit.ts";

/** Keys that nobody has, a minute and client address (contract 4 §1 "pre-lookup throttle"). */
const guesses: Limit = { name: "key-guess", max: 300, windowSeconds: 60 };

/**
 * Refuses an address that guesses, before any key is looked up. Only keys that turn out not to exist count: a key
 * may be allowed 100,000 requests an hour, which is more than this throttle lets through from one address.
 */
export const refuseGuesser = (services: Services, ip: string | null): Promise<void> =>
  refuseWhenUsedUp(services, guesses, clientBlock(ip));

export async function countGuess(services: Services, ip: string | null): Promise<void> {
  await services.limiter.take(guesses, clientBlock(ip));
}
