import { hash } from "@node-rs/argon2";

const hashes = new Map<string, Promise<string>>();

/** The stored hash of a password with the lowest cost setting, so that checking it is fast. */
export function cheapHash(password: string): Promise<string> {
  const known = hashes.get(password) ?? hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 });
  hashes.set(password, known);
  return known;
}
