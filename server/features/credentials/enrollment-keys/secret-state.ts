import type { Call } from "#server/http/call";
import type { SecretState } from "#server/http/implement";
import { enrollmentKeyHashes } from "./key-hash.ts";

/** What became of the raw key that an answer from memory shows. */
export async function enrollmentKeyState(call: Call, id: string, key: string): Promise<SecretState> {
  const row = await call.db
    .selectFrom("enrollmentKeys")
    .select(["keyHash", "expiresAt", "usageCount", "maxUsage"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) return "gone";
  const isLeft = row.maxUsage === null || row.usageCount < row.maxUsage;
  const works =
    isLeft && row.expiresAt > call.clock.now() && enrollmentKeyHashes(call.config, key).includes(row.keyHash);
  return works ? "current" : "stale";
}
