import type { Config } from "#server/config";
import type { Random } from "#server/platform/random";
import { sha256 } from "#server/platform/vault";

/** The stored form of an enrollment key (docs/credentials.md, "Enrollment keys"). */
export const enrollmentKeyHash = (pepper: string, raw: string): string => sha256(`${pepper}:${raw}`);

/** A raw key as it may be stored: under the current pepper, or under those that older keys were made with. */
export const enrollmentKeyHashes = ({ enrollmentKeyPeppers }: Pick<Config, "enrollmentKeyPeppers">, raw: string) =>
  enrollmentKeyPeppers.map((pepper) => enrollmentKeyHash(pepper, raw));

/** 32 random bytes, shown once, and their hash under the current pepper. */
export function newEnrollmentKey(
  config: Pick<Config, "enrollmentKeyPeppers">,
  random: Random,
): { key: string; keyHash: string } {
  const [pepper] = config.enrollmentKeyPeppers;
  if (pepper === undefined) throw new Error("no pepper for enrollment keys is configured");
  const key = random.bytes(32).toString("hex");
  return { key, keyHash: enrollmentKeyHash(pepper, key) };
}
