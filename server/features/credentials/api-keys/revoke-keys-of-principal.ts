import { type Writing, writeCredentials } from "#server/access/write-credentials";

/** Ends every active key of a service principal but the one named; returns how many. The caller holds the principal. */
export async function revokeKeysOfPrincipal(
  call: Writing,
  principalId: string,
  now: string,
  exceptId?: string,
): Promise<number> {
  const { numUpdatedRows } = await writeCredentials(call, (all) => {
    const revoke = all
      .updateTable("apiKeys")
      .set({ status: "revoked", updatedAt: now })
      .where("principalId", "=", principalId)
      .where("status", "=", "active");
    return (exceptId === undefined ? revoke : revoke.where("id", "<>", exceptId)).executeTakeFirst();
  });
  return Number(numUpdatedRows);
}
