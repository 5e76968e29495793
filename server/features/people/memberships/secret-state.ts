import type { Call } from "#server/http/call";
import type { SecretState } from "#server/http/implement";
import { sha256 } from "#server/platform/vault";

/** Whether the session that an answer from memory shows can still be renewed with its token. */
export async function sessionState(
  call: Call,
  { refreshToken }: { readonly refreshToken: string },
): Promise<SecretState> {
  const live = await call.readAsSystem("own memberships", (db) =>
    db
      .selectFrom("refreshTokens")
      .innerJoin("sessions", "sessions.id", "refreshTokens.sessionId")
      .select("refreshTokens.id")
      .where("refreshTokens.tokenHash", "=", sha256(refreshToken))
      .where("refreshTokens.spentAt", "is", null)
      .where("refreshTokens.expiresAt", ">", call.clock.now())
      .where("sessions.revokedAt", "is", null)
      .executeTakeFirst(),
  );
  return live ? "current" : "stale";
}
