import type { Services } from "#server/services";
import { findSecret } from "./guesses.ts";
import type { Limit } from "./rate-limit.ts";

/** Unknown keys per minute and client address (docs/credentials.md, "Rate limit of a key"). */
export const keyGuesses: Limit = { name: "key-guess", max: 300, windowSeconds: 60 };

/** Looks a key up as a guess. */
export const findKey = <R>(
  services: Services,
  ip: string | null,
  hash: string,
  find: () => Promise<R | undefined>,
): Promise<R | undefined> => findSecret(services, { limit: keyGuesses, ip, hash }, find);
