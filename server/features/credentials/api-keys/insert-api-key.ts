import type { Insertable } from "kysely";
import type { ApiKeysTable } from "#server/db/tables/credentials";
import type { Call } from "#server/http/call";
import { writeKeys } from "./write-keys.ts";

type Chosen = Omit<
  Insertable<ApiKeysTable>,
  "status" | "issuedBy" | "lastUsedAt" | "usageCount" | "keyIssuedAt" | "createdAt" | "updatedAt"
>;

/** Writes an active key that nobody has used yet, of a person or of a service principal. */
export async function insertApiKey(call: Call, chosen: Chosen, now: string): Promise<void> {
  const key = {
    ...{ ...chosen, issuedBy: chosen.createdBy, status: "active" as const, lastUsedAt: null, usageCount: 0 },
    ...{ keyIssuedAt: now, createdAt: now, updatedAt: now },
  };
  await writeKeys(call, (all) => all.insertInto("apiKeys").values(key).execute());
}
