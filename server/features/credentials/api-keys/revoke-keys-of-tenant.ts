import type { Tx } from "#server/db/unit-of-work";

/** The keys of an organization that is deleted stop for good. */
export async function revokeKeysOfOrganization(tx: Tx, orgId: string, now: string): Promise<void> {
  await tx
    .updateTable("apiKeys")
    .set({ status: "revoked", updatedAt: now })
    .where("orgId", "=", orgId)
    .where("status", "=", "active")
    .execute();
}

/** The same for every organization of a partner. */
export async function revokeKeysOfPartner(tx: Tx, partnerId: string, now: string): Promise<void> {
  const orgs = tx.selectFrom("organizations").select("organizations.id").where("partnerId", "=", partnerId);
  await tx
    .updateTable("apiKeys")
    .set({ status: "revoked", updatedAt: now })
    .where("orgId", "in", orgs)
    .where("status", "=", "active")
    .execute();
}
