import type { KeyExpiredEvent, KeyUsedEvent } from "#server/room-hooks";

/**
 * Adds uses to a key. Two statements: the count must be added in any case, while the time may only move forward. The
 * count comes last: a failed flush is repeated, and a time may be written twice.
 */
export async function noteUsed({ db, kind, keyId, keyHash, count, lastUsedAt }: KeyUsedEvent): Promise<void> {
  if (kind !== "apiKey") return;
  const key = () => db.updateTable("apiKeys").where("id", "=", keyId).where("keyHash", "=", keyHash);
  await key()
    .set({ lastUsedAt })
    .where((eb) => eb.or([eb("lastUsedAt", "is", null), eb("lastUsedAt", "<", lastUsedAt)]))
    .execute();
  await key()
    .set((eb) => ({ usageCount: eb("usageCount", "+", count) }))
    .execute();
}

/** Marks a key past its end, only while it is active and has this material, so that a concurrent rotation wins. */
export async function noteExpired({ db, kind, keyId, keyHash, now }: KeyExpiredEvent): Promise<void> {
  if (kind !== "apiKey") return;
  await db
    .updateTable("apiKeys")
    .set({ status: "expired", updatedAt: now })
    .where("id", "=", keyId)
    .where("keyHash", "=", keyHash)
    .where("status", "=", "active")
    .execute();
}
