import type { Tx } from "#server/db/unit-of-work";

/** When the person signed in last. */
export async function noteSignIn(tx: Tx, userId: string, now: string): Promise<void> {
  await tx.updateTable("users").set({ lastLoginAt: now }).where("id", "=", userId).execute();
}
