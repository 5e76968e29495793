import type { Insertable } from "kysely";
import type { ApiKeysTable } from "#server/db/tables/credentials";
import type { Tx } from "#server/db/unit-of-work";

type Chosen = Omit<
  Insertable<ApiKeysTable>,
  "status" | "issuedBy" | "lastUsedAt" | "usageCount" | "keyIssuedAt" | "createdAt" | "updatedAt"
>;

/** Writes an active key that nobody has used yet, of a person or of a service principal. */
export async function insertApiKey(tx: Tx, chosen: Chosen, now: string): Promise<void> {
  await tx
    .insertInto("apiKeys")
    .values({
      ...chosen,
      issuedBy: chosen.createdBy,
      status: "active",
      lastUsedAt: null,
      usageCount: 0,
      keyIssuedAt: now,
      createdAt: now,
      updatedAt: now,
    })
    .execute();
}
