import type { Tx } from "#server/db/unit-of-work";

/** Ends the sessions that an identity provider began, whoever's they are; answers how many. Needs an unscoped handle. */
export async function revokeProviderSessions(tx: Tx, providerId: string, reason: string, now: string): Promise<number> {
  const ended = await tx
    .updateTable("sessions")
    .set({ revokedAt: now, revokedReason: reason })
    .where("ssoProviderId", "=", providerId)
    .where("revokedAt", "is", null)
    .executeTakeFirst();
  return Number(ended.numUpdatedRows);
}
