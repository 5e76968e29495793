import type { Call } from "#server/http/call";

/**
 * Ends the sessions of a partner's users and of its organizations' users, and revokes its organizations'
 * API keys (contract 1 C1 DELETE). Its agents are refused from now on by the partner's `deletedAt`; its
 * enrollment keys by its status. Joins the caller's transaction.
 */
export async function revokePartnerAccess(call: Call, partnerId: string, reason: string): Promise<void> {
  const now = call.clock.now();
  await call.asSystem("revoke access", async (tx) => {
    const orgs = tx.selectFrom("organizations").select("organizations.id").where("partnerId", "=", partnerId);
    // A platform administrator's sessions are of system scope, whatever else the person belongs to.
    const people = tx
      .selectFrom("users")
      .select("users.id")
      .where("isPlatformAdmin", "=", false)
      .where((eb) =>
        eb.or([
          eb("users.id", "in", eb.selectFrom("partnerUsers").select("userId").where("partnerId", "=", partnerId)),
          eb("users.id", "in", eb.selectFrom("organizationUsers").select("userId").where("orgId", "in", orgs)),
        ]),
      );
    await tx
      .updateTable("sessions")
      .set({ revokedAt: now, revokedReason: reason })
      .where("revokedAt", "is", null)
      .where("userId", "in", people)
      .execute();
    await tx
      .updateTable("apiKeys")
      .set({ status: "revoked", updatedAt: now })
      .where("orgId", "in", orgs)
      .where("status", "=", "active")
      .execute();
  });
}
