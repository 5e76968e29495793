import type { Call } from "#server/http/call";
import type { SecretState } from "#server/http/implement";

/** What became of a key that an answer from memory shows; a rotation makes another row. */
export async function partnerKeyState({ db, clock }: Call, { keyId }: { keyId: string }): Promise<SecretState> {
  const row = await db
    .selectFrom("partnerServicePrincipalKeys")
    .select(["status", "expiresAt"])
    .where("id", "=", keyId)
    .executeTakeFirst();
  const ended = row?.status !== "active" || (row.expiresAt !== null && row.expiresAt <= clock.now());
  return ended ? "gone" : "current";
}
