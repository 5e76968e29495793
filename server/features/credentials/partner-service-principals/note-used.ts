import type { KeyUsedEvent } from "#server/room-hooks";

/** When a principal's key was used last; the time only goes forward. */
export async function noteUsed({ db, kind, keyId, lastUsedAt }: KeyUsedEvent): Promise<void> {
  if (kind !== "partnerKey") return;
  await db
    .updateTable("partnerServicePrincipalKeys")
    .set({ lastUsedAt })
    .where("id", "=", keyId)
    .where((eb) => eb.or([eb("lastUsedAt", "is", null), eb("lastUsedAt", "<", lastUsedAt)]))
    .execute();
}
