import type { Tx } from "#server/db/unit-of-work";

/** A disabled person without any membership starts anew: they have to accept an invitation again. */
export async function reinviteAccount(tx: Tx, userId: string, name: string, now: string): Promise<void> {
  await tx.updateTable("users").set({ status: "invited", name, updatedAt: now }).where("id", "=", userId).execute();
}
