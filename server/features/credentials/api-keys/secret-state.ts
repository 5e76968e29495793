import type { Call } from "#server/http/call";
import type { SecretState } from "#server/http/implement";
import { apiKeyHash } from "./key-material.ts";
import { statusAt } from "./rules.ts";

/** What became of the material of a key that an answer from memory shows. */
export async function apiKeyState({ db, clock }: Call, id: string, key: string): Promise<SecretState> {
  const row = await db
    .selectFrom("apiKeys")
    .select(["keyHash", "status", "expiresAt"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row || statusAt(row, clock.now()) !== "active") return "gone";
  return row.keyHash === apiKeyHash(key) ? "current" : "stale";
}
