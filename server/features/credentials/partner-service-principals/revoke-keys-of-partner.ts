import type { Tx } from "#server/db/unit-of-work";

/** Revokes every active key of a partner's principals (docs/tenancy.md, "Deleting a partner"). */
export async function revokeKeysOfPartner(tx: Tx, partnerId: string, now: string): Promise<void> {
  await tx
    .updateTable("partnerServicePrincipalKeys")
    .set({ status: "revoked", revokedAt: now, updatedAt: now })
    .where("partnerId", "=", partnerId)
    .where("status", "=", "active")
    .execute();
}
