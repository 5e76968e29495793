import type { Tx } from "#server/db/unit-of-work";

/** A disabled person who belongs nowhere starts anew: they have to accept an invitation again. */
export async function reinviteAccount(tx: Tx, userId: string, now: string): Promise<void> {
  await tx.updateTable("users").set({ status: "invited", updatedAt: now }).where("id", "=", userId).execute();
}
