import type { Tx } from "#server/db/unit-of-work";
import { reachableFrom } from "./reachable-from.ts";

interface Which {
  userId: string;
  /** Just this one. */
  only?: string;
  /** All but this one. */
  except?: string;
  /** Those that this one may end. */
  reachableFrom?: string;
}

/** Ends sessions of a user from this commit on, everywhere; answers how many. Needs an unscoped handle. */
export async function revokeSessions(tx: Tx, which: Which, reason: string, now: string): Promise<number> {
  let query = tx
    .updateTable("sessions")
    .set({ revokedAt: now, revokedReason: reason })
    .where("userId", "=", which.userId)
    .where("revokedAt", "is", null);
  if (which.only !== undefined) query = query.where("id", "=", which.only);
  if (which.except !== undefined) query = query.where("id", "<>", which.except);
  if (which.reachableFrom !== undefined) query = query.where(reachableFrom(which.reachableFrom));
  return Number((await query.executeTakeFirst()).numUpdatedRows);
}

/** Ends one session, whosever it is. Needs an unscoped handle. */
export async function revokeSession(tx: Tx, sessionId: string, reason: string, now: string): Promise<void> {
  await tx
    .updateTable("sessions")
    .set({ revokedAt: now, revokedReason: reason })
    .where("id", "=", sessionId)
    .where("revokedAt", "is", null)
    .execute();
}
