import type { UserPrincipal } from "#server/access/principal";
import type { Reader } from "#server/db/unit-of-work";
import { isHomeSession } from "#server/features/sign-in/core/home-session";
import { tenantColumns } from "#server/features/sign-in/core/revoke-sessions";
import { REFRESH_TOKEN_MS } from "#server/features/sign-in/core/tokens";
import { after } from "#server/platform/clock";

/**
 * The caller's sessions that can still be used: not ended, and refreshed within a refresh token's life. Outside a home
 * session those of its own tenant alone: an organization's administrator must not follow a guest, or sign them out,
 * everywhere.
 */
export async function openSessions(db: Reader, who: UserPrincipal, now: string) {
  const open = db
    .selectFrom("sessions")
    .where("userId", "=", who.userId)
    .where("revokedAt", "is", null)
    .where("absoluteExpiresAt", ">", now)
    .where("lastUsedAt", ">", after(now, -REFRESH_TOKEN_MS));
  if (await isHomeSession(db, who, now)) return { open };
  const { orgId, partnerId } = tenantColumns(who);
  return {
    open: open
      .where("memberOrgId", "is not distinct from", orgId)
      .where("memberPartnerId", "is not distinct from", partnerId),
  };
}

/** A refresh token with its session and user, found by its hash. */
export const findRefreshToken = (db: Reader, tokenHash: string) =>
  db
    .selectFrom("refreshTokens")
    .innerJoin("sessions", "sessions.id", "refreshTokens.sessionId")
    .innerJoin("users", "users.id", "sessions.userId")
    .where("refreshTokens.tokenHash", "=", tokenHash)
    .select(["refreshTokens.id", "refreshTokens.spentAt", "refreshTokens.expiresAt", "sessions.id as sessionId"])
    .select(["sessions.revokedAt", "sessions.absoluteExpiresAt", "sessions.mfaVerifiedAt"])
    .select(["sessions.ssoProviderId", "sessions.memberOrgId", "sessions.memberPartnerId"])
    .select(["users.id as userId", "users.email", "users.name", "users.status", "users.isPlatformAdmin"])
    .executeTakeFirst();
