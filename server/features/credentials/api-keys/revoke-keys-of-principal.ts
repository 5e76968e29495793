import type { Tx } from "#server/db/unit-of-work";

/** Ends every active key of a service principal but the one named; returns how many. The caller holds the principal. */
export async function revokeKeysOfPrincipal(
  tx: Tx,
  principalId: string,
  now: string,
  exceptId?: string,
): Promise<number> {
  let revoke = tx
    .updateTable("apiKeys")
    .set({ status: "revoked", updatedAt: now })
    .where("principalId", "=", principalId)
    .where("status", "=", "active");
  if (exceptId !== undefined) revoke = revoke.where("id", "<>", exceptId);
  return Number((await revoke.executeTakeFirst()).numUpdatedRows);
}
