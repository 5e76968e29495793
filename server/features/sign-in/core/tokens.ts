import { ACCESS_TOKEN_SECONDS } from "#server/access/access-token";
import type { Membership } from "#server/access/membership";
import type { Tx } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { after, DAY } from "#server/platform/clock";
import type { Random } from "#server/platform/random";
import { sha256 } from "#server/platform/vault";
import { problem } from "#server/problem";

export const REFRESH_TOKEN_MS = 7 * DAY;

export interface TokenPair {
  accessToken: string;
  refreshToken: string;
  tokenType: "Bearer";
  expiresIn: number;
}

export interface OpenSession {
  id: string;
  userId: string;
  absoluteExpiresAt: string;
  mfa: boolean;
}

type Claimed = Pick<Membership, "scope" | "partnerId" | "orgId" | "roleId">;
type Maker = Pick<Call, "clock" | "random" | "services">;

/**
 * A new pair for a session. Its earlier refresh token ends: a session has one live refresh token at any
 * time. Spent ones stay on record, so that a replay of them is noticed.
 */
export async function issueTokens(call: Maker, tx: Tx, session: OpenSession, membership: Claimed): Promise<TokenPair> {
  const now = call.clock.now();
  const refreshToken = newRefreshToken(call.random);
  await tx.deleteFrom("refreshTokens").where("sessionId", "=", session.id).where("spentAt", "is", null).execute();
  await tx
    .insertInto("refreshTokens")
    .values({
      id: call.random.uuid(),
      sessionId: session.id,
      tokenHash: sha256(refreshToken),
      createdAt: now,
      expiresAt: earlier(after(now, REFRESH_TOKEN_MS), session.absoluteExpiresAt),
      spentAt: null,
    })
    .execute();
  await tx.updateTable("sessions").set({ lastUsedAt: now }).where("id", "=", session.id).execute();
  const accessToken = call.services.accessTokens.sign({
    sub: session.userId,
    sid: session.id,
    scope: membership.scope,
    partnerId: membership.partnerId,
    orgId: membership.orgId,
    roleId: membership.roleId,
    mfa: session.mfa,
    jti: call.random.uuid(),
  });
  return { accessToken, refreshToken, tokenType: "Bearer", expiresIn: ACCESS_TOKEN_SECONDS };
}

/** A new pair for the caller's own session, which goes on in the same membership. */
export async function renewOwnTokens(call: Maker & Pick<Call, "who">, tx: Tx): Promise<TokenPair> {
  const who = user(call);
  const session = await tx
    .selectFrom("sessions")
    .select(["id", "userId", "absoluteExpiresAt", "mfaVerifiedAt"])
    .where("id", "=", who.sessionId)
    .where("revokedAt", "is", null)
    .executeTakeFirst();
  // Ended by another request while this one ran.
  if (!session) throw problem("UNAUTHENTICATED");
  return issueTokens(call, tx, { ...session, mfa: session.mfaVerifiedAt !== null }, who);
}

/** A refresh token that was exchanged stays on record as spent. */
export async function spendRefreshToken(tx: Tx, tokenId: string, now: string): Promise<void> {
  await tx.updateTable("refreshTokens").set({ spentAt: now }).where("id", "=", tokenId).execute();
}

const earlier = (...instants: [string, string]): string => instants.sort()[0] as string;

const newRefreshToken = (random: Random): string => `rt_${random.bytes(32).toString("base64url")}`;
