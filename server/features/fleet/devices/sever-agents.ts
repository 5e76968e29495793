import type { Tx } from "#server/db/unit-of-work";

/**
 * The tokens of an organization's agents stop for good, and they must enroll again. All that churning takes away:
 * people and keys are refused by the status while it lasts (contract 1 C3).
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
