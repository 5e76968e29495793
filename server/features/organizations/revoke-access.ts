import { revokeMembers } from "#server/features/sessions/revoke-members";
import type { Call } from "#server/http/call";

/**
 * Cuts an organization off: its members' sessions end, its API keys are revoked, its agents' tokens
 * stop working (contract 1 C2 DELETE, C3 "churned"). Joins the caller's transaction.
 */
export async function revokeOrganizationAccess(call: Call, orgId: string, reason: string): Promise<void> {
  const now = call.clock.now();
  await call.asSystem("revoke access", async (tx) => {
    await revokeMembers(tx, { orgId }, reason, now);
    await tx
      .updateTable("apiKeys")
      .set({ status: "revoked", updatedAt: now })
      .where("orgId", "=", orgId)
      .where("status", "=", "active")
      .execute();
    await tx
      .updateTable("devices")
      .set({
        agentTokenHash: null,
        watchdogTokenHash: null,
        previousAgentTokenHash: null,
        previousWatchdogTokenHash: null,
        updatedAt: now,
      })
      .where("orgId", "=", orgId)
      .execute();
  });
}
