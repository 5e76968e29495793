import { revokeMembers } from "#server/features/sign-in/core/revoke-members";
import type { Call } from "#server/http/call";

/**
 * Ends the sessions of those who belong to this partner or its organizations alone, and revokes its organizations'
 * API keys (contract 1 C1 DELETE). Its agents are refused from now on by the partner's `deletedAt`; its
 * enrollment keys by its status. Joins the caller's transaction.
 */
export async function revokePartnerAccess(call: Call, partnerId: string, reason: string): Promise<void> {
  const now = call.clock.now();
  await call.asSystem("revoke access", async (tx) => {
    const orgs = tx.selectFrom("organizations").select("organizations.id").where("partnerId", "=", partnerId);
    await revokeMembers(tx, { partnerId }, reason, now);
    await tx
      .updateTable("apiKeys")
      .set({ status: "revoked", updatedAt: now })
      .where("orgId", "in", orgs)
      .where("status", "=", "active")
      .execute();
  });
}
