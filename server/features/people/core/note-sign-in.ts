import type { Tx } from "#server/db/unit-of-work";

/** When the person signed in last. */
export async function noteSignIn(tx: Tx, userId: string, now: string): Promise<void> {
  await tx.updateTable("users").set({ lastLoginAt: now }).where("id", "=", userId).execute();
}

/** Another rescued sign-in takes another rescue. False when there is none any more. */
export async function endRescue(tx: Tx, userId: string, now: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("users")
    .set({ rescuedUntil: null })
    .where("id", "=", userId)
    .where("rescuedUntil", ">", now)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** One sign-in until then passes where single sign-on is enforced. */
export async function noteRescue(tx: Tx, userId: string, until: string): Promise<void> {
  await tx.updateTable("users").set({ rescuedUntil: until }).where("id", "=", userId).execute();
}
