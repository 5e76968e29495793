import type { Tx } from "#server/db/unit-of-work";

interface NewPassword {
  passwordHash: string;
  /** The hash that was confirmed: another one by now refuses. Left out = whatever it is. */
  instead?: string;
  now: string;
}

/**
 * Gives a person another password and lifts a lock. False when it is no longer the one that was confirmed. It takes the
 * row of the person first: a sign-in with the old password that runs now waits, and then fails or is ended too.
 */
export async function replacePassword(
  tx: Tx,
  userId: string,
  { passwordHash, instead, now }: NewPassword,
): Promise<boolean> {
  let replace = tx
    .updateTable("users")
    .set({ passwordHash, passwordChangedAt: now, failedLogins: 0, lockedUntil: null, updatedAt: now })
    .where("id", "=", userId);
  if (instead !== undefined) replace = replace.where("passwordHash", "=", instead);
  return (await replace.executeTakeFirst()).numUpdatedRows === 1n;
}
