import { revokeKeysOfPartner } from "#server/features/credentials/partner-service-principals/revoke-keys-of-partner";
import { revokeMembers } from "#server/features/sign-in/sessions/revoke-members";
import type { Call } from "#server/http/call";

/**
 * Ends the sessions of people who belong only to this partner or its organizations, and revokes the keys of its principals
 * and its organizations (docs/tenancy.md, "Deleting a partner"). Its agents are refused because of `deletedAt`, its enrollment keys
 * because of the status. Joins the caller's transaction.
 */
export async function revokePartnerAccess(call: Call, partnerId: string, reason: string): Promise<void> {
  const now = call.clock.now();
  await call.asSystem("revoke access", async (tx) => {
    const orgs = tx.selectFrom("organizations").select("organizations.id").where("partnerId", "=", partnerId);
    await revokeMembers(tx, { partnerId }, reason, now);
    await revokeKeysOfPartner(tx, partnerId, now);
    await tx
      .updateTable("apiKeys")
      .set({ status: "revoked", updatedAt: now })
      .where("orgId", "in", orgs)
      .where("status", "=", "active")
      .execute();
  });
}
