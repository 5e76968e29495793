import type { Tx } from "#server/db/unit-of-work";

/**
 * Counts one use if both bounds still hold; of callers that race for the last use one wins. The row stays locked
 * until the transaction ends, and an enrollment that fails later gives the use back with it. False when it may not
 * be used (any more).
 */
export async function claimUse(tx: Tx, key: { id: string; keyHash: string }, now: string): Promise<boolean> {
  const claimed = await tx
    .updateTable("enrollmentKeys")
    .set((eb) => ({ usageCount: eb("usageCount", "+", 1), updatedAt: now }))
    .where("id", "=", key.id)
    .where("keyHash", "=", key.keyHash)
    .where("expiresAt", ">", now)
    .where((eb) => eb.or([eb("maxUsage", "is", null), eb("usageCount", "<", eb.ref("maxUsage"))]))
    .executeTakeFirst();
  return claimed.numUpdatedRows === 1n;
}
