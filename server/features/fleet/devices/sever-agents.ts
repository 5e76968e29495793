import type { Tx } from "#server/db/unit-of-work";

/**
 * Voids the tokens of an organization's agents, which must enroll again. `churned` takes away nothing else: people and
 * keys are refused while the status lasts (docs/tenancy.md, "Organization status").
 */
export async function severAgents(tx: Tx, orgId: string, now: string): Promise<void> {
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
}
