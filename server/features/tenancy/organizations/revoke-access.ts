import { revokeMembers } from "#server/features/sign-in/core/revoke-members";
import type { Call } from "#server/http/call";

/**
 * Cuts a deleted organization off for good: its members' sessions end, its API keys are revoked, its agents'
 * tokens stop working (contract 1 C2 DELETE). Joins the caller's transaction.
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
  });
  await severAgents(call, orgId);
}

/**
 * The tokens of an organization's agents stop for good, and they must enroll again. All that churning takes away:
 * people and keys are refused by the status while it lasts (contract 1 C3). Joins the caller's transaction.
 */
export async function severAgents(call: Call, orgId: string): Promise<void> {
  await call.asSystem("revoke access", (tx) =>
    tx
      .updateTable("devices")
      .set({
        agentTokenHash: null,
        watchdogTokenHash: null,
        previousAgentTokenHash: null,
        previousWatchdogTokenHash: null,
        updatedAt: call.clock.now(),
      })
      .where("orgId", "=", orgId)
      .execute(),
  );
}
