import { availableParallelism } from "node:os";
import { hash, verify } from "@node-rs/argon2";

/** Argon2id, OWASP's first choice of cost (measured: 17 ms); stored hashes carry their own parameters. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Why a new password is refused (docs/sign-in.md, "Passwords"); undefined if it is accepted. */
export function passwordProblem(password: string): string | undefined {
  const length = [...password].length;
  if (length < 8 || length > 128) return "must have 8 to 128 characters";
  if (!/\p{Ll}/u.test(password)) return "must have a lower-case letter";
  if (!/\p{Lu}/u.test(password)) return "must have an upper-case letter";
  if (!/\d/.test(password)) return "must have a digit";
  return undefined;
}

export const hashPassword = (password: string): Promise<string> =>
  limited(() => hash(password.normalize("NFKC"), cost));

/**
 * Checks a password; without a stored hash it does the same work and says no, so that an unknown
 * address takes as long as a known one.
 */
export async function checkPassword(password: string, stored: string | null): Promise<boolean> {
  dummy ??= limited(() => hash("no user has this password", cost));
  const against = stored ?? (await dummy);
  const matches = await limited(() => verify(against, password.normalize("NFKC")));
  return matches && stored !== null;
}

let dummy: Promise<string> | undefined;

/** Hashing is capped so that a burst of logins cannot starve the thread pool that files and DNS use. */
const waiting: (() => void)[] = [];
let free = Math.max(1, availableParallelism()) * 2;

async function limited<T>(work: () => Promise<T>): Promise<T> {
  if (free > 0) free -= 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }
}
