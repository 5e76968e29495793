import { type Writing, writeCredentials } from "#server/access/write-credentials";

interface Gift {
  principalId: string;
  scopes: string[];
  now: string;
}

/** Puts an active key, material and all, into the hands of a service principal. False when it is active no more. */
export async function giveToPrincipal(
  call: Writing,
  keyId: string,
  { principalId, scopes, now }: Gift,
): Promise<boolean> {
  const moved = await writeCredentials(call, (all) =>
    all
      .updateTable("apiKeys")
      .set({ principalType: "service", principalId, scopes, updatedAt: now })
      .where("id", "=", keyId)
      .where("status", "=", "active")
      .executeTakeFirst(),
  );
  return moved.numUpdatedRows === 1n;
}
