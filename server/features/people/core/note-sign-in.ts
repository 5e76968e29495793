import type { Tx } from "#server/db/unit-of-work";

/** When the person signed in last. */
export async function noteSignIn(tx: Tx, userId: string, now: string): Promise<void> {
  await tx.updateTable("users").set({ lastLoginAt: now }).where("id", "=", userId).execute();
}

/** Another rescued sign-in takes another rescue. */
export async function endRescue(tx: Tx, userId: string): Promise<void> {
  await tx.updateTable("users").set({ rescuedUntil: null }).where("id", "=", userId).execute();
}

/** One sign-in until then passes where single sign-on is enforced. */
export async function noteRescue(tx: Tx, userId: string, until: string): Promise<void> {
  await tx.updateTable("users").set({ rescuedUntil: until }).where("id", "=", userId).execute();
}
