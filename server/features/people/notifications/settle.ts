import type { Tx } from "#server/db/unit-of-work";

/** What it asked people for is done: nobody need look at it any more. Needs an unscoped transaction. */
export async function settleNotifications(tx: Tx, link: string, now: string): Promise<void> {
  await tx
    .updateTable("notifications")
    .set({ readAt: now, updatedAt: now })
    .where("link", "=", link)
    .where("readAt", "is", null)
    .execute();
}
