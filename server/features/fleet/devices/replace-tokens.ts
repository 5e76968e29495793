import type { Updateable } from "kysely";
import type { DevicesTable } from "#server/db/tables/fleet";
import type { Tx } from "#server/db/unit-of-work";

/** The pair that begins, and the one that lasts a while longer where it is replaced. */
type Tokens = Pick<
  Updateable<DevicesTable>,
  | "agentTokenHash"
  | "watchdogTokenHash"
  | "previousAgentTokenHash"
  | "previousWatchdogTokenHash"
  | "previousTokensExpireAt"
>;

/** Gives a device its next tokens. False when it moved, or those it had are no longer the ones that were read. */
export async function replaceTokens(
  tx: Tx,
  known: { id: string; orgId: string; agentTokenHash: string | null },
  tokens: Tokens,
  now: string,
): Promise<boolean> {
  const changed = await tx
    .updateTable("devices")
    .set({ ...tokens, tokensIssuedAt: now, updatedAt: now })
    .where("id", "=", known.id)
    .where("orgId", "=", known.orgId)
    .where("agentTokenHash", "=", known.agentTokenHash)
    .executeTakeFirst();
  return changed.numUpdatedRows === 1n;
}
