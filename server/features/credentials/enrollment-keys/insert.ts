import type { Insertable } from "kysely";
import { writeCredentials } from "#server/access/write-credentials";
import { isForeignKeyViolation } from "#server/db/dialect/violations";
import type { EnrollmentKeysTable } from "#server/db/tables/credentials";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { newEnrollmentKey } from "./key-hash.ts";

type Chosen = Omit<
  Insertable<EnrollmentKeysTable>,
  "keyHash" | "usageCount" | "keyIssuedAt" | "createdAt" | "updatedAt"
>;

/** Writes an unused enrollment key of an organization that the caller reaches; returns its material, of which only the hash is stored. */
export async function insertEnrollmentKey(call: Call, chosen: Chosen): Promise<string> {
  const { key, keyHash } = newEnrollmentKey(call.config, call.random);
  const now = call.clock.now();
  try {
    const made = { ...chosen, keyHash, usageCount: 0, keyIssuedAt: now, createdAt: now, updatedAt: now };
    await writeCredentials(call, (all) => all.insertInto("enrollmentKeys").values(made).execute());
  } catch (error) {
    // The site was deleted between the check and the write.
    throw isForeignKeyViolation(error) ? problem("SITE_NOT_IN_ORG", { cause: error }) : error;
  }
  return key;
}
