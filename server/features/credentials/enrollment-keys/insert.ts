import type { Insertable } from "kysely";
import { isForeignKeyViolation } from "#server/db/dialect/violations";
import type { EnrollmentKeysTable } from "#server/db/tables/credentials";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { newEnrollmentKey } from "./key-hash.ts";

type Chosen = Omit<
  Insertable<EnrollmentKeysTable>,
  "keyHash" | "usageCount" | "keyIssuedAt" | "createdAt" | "updatedAt"
>;

/** Writes an unused enrollment key and returns its material; only the hash is stored. */
export async function insertEnrollmentKey(call: Call, tx: Tx, chosen: Chosen): Promise<string> {
  const { key, keyHash } = newEnrollmentKey(call.config, call.random);
  const now = call.clock.now();
  try {
    await tx
      .insertInto("enrollmentKeys")
      .values({ ...chosen, keyHash, usageCount: 0, keyIssuedAt: now, createdAt: now, updatedAt: now })
      .execute();
  } catch (error) {
    // The site was deleted between the check and the write.
    throw isForeignKeyViolation(error) ? problem("SITE_NOT_IN_ORG", { cause: error }) : error;
  }
  return key;
}
