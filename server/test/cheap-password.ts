import { hash } from "@node-rs/argon2";

const hashes = new Map<string, Promise<string>>();

/** A stored hash of a password that costs next to nothing to check: hashes carry their own cost, and this one is low. */
export function cheapHash(password: string): Promise<string> {
  const known = hashes.get(password) ?? hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 });
  hashes.set(password, known);
  return known;
}
