import type { Insertable } from "kysely";
import { type Writing, writeCredentials } from "#server/access/write-credentials";
import type { ApiKeysTable } from "#server/db/tables/credentials";

type Chosen = Omit<
  Insertable<ApiKeysTable>,
  "status" | "issuedBy" | "lastUsedAt" | "usageCount" | "keyIssuedAt" | "createdAt" | "updatedAt"
>;

/** Writes an active key that nobody has used yet, of a person or of a service principal. */
export async function insertApiKey(call: Writing, chosen: Chosen, now: string): Promise<void> {
  const key = {
    ...{ ...chosen, issuedBy: chosen.createdBy, status: "active" as const, lastUsedAt: null, usageCount: 0 },
    ...{ keyIssuedAt: now, createdAt: now, updatedAt: now },
  };
  await writeCredentials(call, (all) => all.insertInto("apiKeys").values(key).execute());
}
