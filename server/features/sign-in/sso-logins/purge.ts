import { asSystem } from "#server/db/as-system";
import { revokeSession } from "#server/features/sign-in/core/revoke-sessions";
import type { Services } from "#server/services";

/** Drops sign-ins that never returned and codes that were never redeemed; the session of such a code ends. */
export async function purgeSsoLogins(services: Services): Promise<void> {
  const db = asSystem(services, "purge expired");
  const now = services.clock.now();
  await db.deleteFrom("ssoLoginSessions").where("expiresAt", "<=", now).execute();
  await db.transaction().execute(async (tx) => {
    const codes = await tx
      .deleteFrom("ssoExchangeCodes")
      .where("expiresAt", "<=", now)
      .returning("sessionId")
      .execute();
    for (const { sessionId } of codes) await revokeSession(tx, sessionId, "sign-in not finished", now);
  });
}
