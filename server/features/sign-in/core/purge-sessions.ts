import { asSystem } from "#server/db/as-system";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";
import { purgeUserTokens } from "./user-tokens.ts";

/** Ended sessions stay for a month, so that a replay of one of their tokens is still told from an unknown token. */
const KEEP_MS = 30 * DAY;

/**
 * Drops refresh tokens that expired unused, sessions long ended (with their tokens) and one-time tokens long expired. A
 * spent token stays as long as its session: whoever brings it back has a copy.
 */
export async function purgeSessions(services: Services): Promise<void> {
  const db = asSystem(services, "purge expired");
  const now = services.clock.now();
  const old = after(now, -KEEP_MS);
  await db.deleteFrom("refreshTokens").where("expiresAt", "<=", now).where("spentAt", "is", null).execute();
  await db
    .deleteFrom("sessions")
    .where((eb) => eb.or([eb("absoluteExpiresAt", "<=", now), eb("revokedAt", "<=", old)]))
    .execute();
  await purgeUserTokens(db, old);
}
