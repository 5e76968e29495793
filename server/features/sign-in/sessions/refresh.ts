import type { Endpoint } from "#contract/core/endpoint";
import type { sessions } from "#contract/resources/sign-in/sessions";
import { judged } from "#server/access/attempts";
import { type Membership, membershipIn, standingOf } from "#server/access/membership";
import { passwordStandingOf } from "#server/access/password-standing";
import { lockRow } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { noteUser } from "#server/features/sign-in/core/note-user";
import { revokeSessions } from "#server/features/sign-in/core/revoke-sessions";
import { issueTokens, spendRefreshToken, type TokenPair } from "#server/features/sign-in/core/tokens";
import type { Call } from "#server/http/call";
import { sha256 } from "#server/platform/vault";
import { problem } from "#server/problem";
import { findRefreshToken } from "./queries.ts";
import { decideRefresh, refreshPerUser } from "./rules.ts";

type RefreshCall = typeof sessions.refresh extends Endpoint<infer T> ? Call<T> : never;
type Found = NonNullable<Awaited<ReturnType<typeof findRefreshToken>>>;

/**
 * Exchanges a refresh token for a new pair in the same session (docs/sign-in.md, "Refreshing"). Of parallel calls with
 * one token exactly one gets the pair, the others `REFRESH_RACED`. A spent token that comes back later was copied: the
 * session ends. While the user's tenant is closed the token is refused but not spent.
 */
export async function refresh(call: RefreshCall): Promise<TokenPair> {
  const tokenHash = sha256(call.body.refreshToken);
  const found = await call.readAsSystem("sign-in", (db) => findRefreshToken(db, tokenHash));
  if (!found) throw problem("INVALID_REFRESH_TOKEN");
  return judged(call.services, [[refreshPerUser, found.userId]], async () => {
    const outcome = await call.transaction(() =>
      call.asSystem("sign-in", async (tx) => {
        await lockRow(tx, call.services.store.dialect, "sessions", found.sessionId);
        return decide(call, tx, tokenHash);
      }),
    );
    if (typeof outcome !== "string") return outcome;
    throw problem(outcome === "raced" ? "REFRESH_RACED" : "INVALID_REFRESH_TOKEN");
  });
}

/** Under the session's lock: what was read before it may have changed. */
async function decide(call: RefreshCall, tx: Tx, tokenHash: string): Promise<TokenPair | "raced" | "invalid"> {
  const token = await findRefreshToken(tx, tokenHash);
  if (!token) return "invalid";
  const now = call.clock.now();
  const { spentAt, expiresAt, status: userStatus } = token;
  const decision = decideRefresh({ spentAt, expiresAt, userStatus, session: token }, now);
  if (decision === "reused") await endStolenSession(call, tx, token);
  if (decision !== "rotate") return decision === "raced" ? "raced" : "invalid";
  const membership = await membershipOf(tx, token);
  if (!membership) return "invalid";
  await spendRefreshToken(tx, token.id, now);
  const { sessionId: id, userId, absoluteExpiresAt, mfaVerifiedAt } = token;
  return issueTokens(call, tx, { id, userId, absoluteExpiresAt, mfa: mfaVerifiedAt !== null }, membership);
}

/**
 * What the session goes on as. One that an identity provider began stays in the provider's tenant; any other may move as
 * memberships come and go, but never into a tenant that enforces single sign-on.
 */
async function membershipOf(tx: Tx, token: Found): Promise<Membership | undefined> {
  const tenant = { orgId: token.memberOrgId, partnerId: token.memberPartnerId };
  if (token.ssoProviderId !== null) {
    const member = await membershipIn(tx, token.userId, tenant);
    return member?.usable ? member.membership : undefined;
  }
  const user = { id: token.userId, isPlatformAdmin: token.isPlatformAdmin, mfaSecret: null };
  // Break-glass is recorded at the sign-in: a session that began so is refreshed like any other.
  return (await passwordStandingOf(tx, user, { breakGlass: false, begunIn: tenant })).membership;
}

async function endStolenSession(call: RefreshCall, tx: Tx, token: Found): Promise<void> {
  await revokeSessions(tx, { userId: token.userId, only: token.sessionId }, "refresh token reused", call.clock.now());
  const { owner } = await standingOf(tx, { id: token.userId, isPlatformAdmin: token.isPlatformAdmin });
  noteUser(call, { id: token.userId, email: token.email, name: token.name });
  call.audit.note({
    action: "auth.refresh.reuse_detected",
    result: "denied",
    ...(owner && { owner }),
    details: { revokedSessionId: token.sessionId },
  });
}
