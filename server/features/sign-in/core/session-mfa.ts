import type { Tx } from "#server/db/unit-of-work";

/** The session has given the second factor. */
export async function markMfaVerified(tx: Tx, sessionId: string, now: string): Promise<void> {
  await tx.updateTable("sessions").set({ mfaVerifiedAt: now }).where("id", "=", sessionId).execute();
}

/** No session of the person counts as MFA-satisfied any more. */
export async function forgetMfaVerified(tx: Tx, userId: string): Promise<void> {
  await tx.updateTable("sessions").set({ mfaVerifiedAt: null }).where("userId", "=", userId).execute();
}
