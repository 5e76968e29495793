import type { Reader } from "#server/db/unit-of-work";
import { reachableFrom } from "#server/features/sign-in/core/reachable-from";
import { REFRESH_TOKEN_MS } from "#server/features/sign-in/core/tokens";
import { after } from "#server/platform/clock";

/** The caller's sessions that can still be used: not ended, and refreshed within a refresh token's life. */
export const openSessions = (db: Reader, who: { userId: string; sessionId: string }, now: string) =>
  db
    .selectFrom("sessions")
    .where("userId", "=", who.userId)
    .where("revokedAt", "is", null)
    .where("absoluteExpiresAt", ">", now)
    .where("lastUsedAt", ">", after(now, -REFRESH_TOKEN_MS))
    .where(reachableFrom(who.sessionId));

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
