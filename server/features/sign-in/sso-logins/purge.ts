import { systemHandle } from "#server/db/unit-of-work";
import type { Services } from "#server/services";

/** Drops sign-ins that never returned and codes that were never redeemed; the session of such a code ends. */
export async function purgeSsoLogins(services: Services): Promise<void> {
  const db = systemHandle(services.store);
  const now = services.clock.now();
  await db.deleteFrom("ssoLoginSessions").where("expiresAt", "<=", now).execute();
  await db.transaction().execute(async (tx) => {
    const codes = await tx
      .deleteFrom("ssoExchangeCodes")
      .where("expiresAt", "<=", now)
      .returning("sessionId")
      .execute();
    for (const { sessionId } of codes) {
      await tx
        .updateTable("sessions")
        .set({ revokedAt: now, revokedReason: "sign-in not finished" })
        .where("id", "=", sessionId)
        .where("revokedAt", "is", null)
        .execute();
    }
  });
}
