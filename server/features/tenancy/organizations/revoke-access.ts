import { revokeMembers } from "#server/features/sign-in/sessions/revoke-members";
import type { Call } from "#server/http/call";

/**
 * Ends the sessions of a deleted organization's members, revokes its API keys and voids its agents' tokens
 * (docs/tenancy.md, "Deleting an organization"). Joins the caller's transaction.
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
 * Voids the tokens of an organization's agents, which must enroll again. `churned` takes away nothing else: people and
 * keys are refused while the status lasts (docs/tenancy.md, "Organization status"). Joins the caller's transaction.
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
