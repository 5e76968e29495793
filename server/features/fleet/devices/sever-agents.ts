import { asSystem } from "#server/db/as-system";
import type { Tx } from "#server/db/unit-of-work";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";

const noTokens = {
  agentTokenHash: null,
  watchdogTokenHash: null,
  previousAgentTokenHash: null,
  previousWatchdogTokenHash: null,
  enrollmentProof: null,
};

/**
 * Voids the tokens of an organization's agents, which must enroll again. `churned` takes away nothing else: people and
 * keys are refused while the status lasts (docs/tenancy.md, "Organization status").
 */
export async function severAgents(tx: Tx, orgId: string, now: string): Promise<void> {
  await tx
    .updateTable("devices")
    .set({ ...noTokens, updatedAt: now })
    .where("orgId", "=", orgId)
    .execute();
}

/** The same of one device. */
export async function forgetTokens(tx: Tx, deviceId: string, now: string): Promise<void> {
  await tx
    .updateTable("devices")
    .set({ ...noTokens, updatedAt: now })
    .where("id", "=", deviceId)
    .execute();
}

const TOLD_MS = 30 * DAY;

/** An agent whose device left is told so for 30 days; then its tokens are nobody's. Returns how many devices. */
export async function forgetTokensOfTheGone(services: Services): Promise<number> {
  const now = services.clock.now();
  const gone = await asSystem(services, "sweep devices")
    .updateTable("devices")
    .set({ ...noTokens, updatedAt: now })
    .where("status", "=", "decommissioned")
    .where("agentTokenHash", "is not", null)
    .where("decommissionedAt", "<=", after(now, -TOLD_MS))
    .executeTakeFirst();
  return Number(gone.numUpdatedRows);
}
