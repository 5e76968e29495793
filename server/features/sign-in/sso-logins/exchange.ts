import { createHash } from "node:crypto";
import type { Endpoint } from "#contract/core/endpoint";
import type { ssoLogins } from "#contract/resources/sign-in/sso-logins";
import { membershipIn } from "#server/access/membership";
import type { Tx } from "#server/db/unit-of-work";
import { issueTokens, type TokenPair } from "#server/features/sign-in/core/tokens";
import type { Call } from "#server/http/call";
import { sha256 } from "#server/platform/vault";
import { problem } from "#server/problem";

type ExchangeCall = typeof ssoLogins.exchange extends Endpoint<infer T> ? Call<T> : never;

/**
 * Trades the code for the session's first tokens, once: of parallel calls one deletes the code (cases C23). A code counts
 * with the verifier of its sign-in alone, and without one where that had none, so that no one can be handed a code of
 * another sign-in (docs/single-sign-on.md, "Exchange").
 */
export async function exchangeCode(call: ExchangeCall): Promise<TokenPair> {
  const { code, verifier } = call.body;
  const challenge = verifier === undefined ? null : createHash("sha256").update(verifier).digest("base64url");
  const pair = await call.transaction(() =>
    call.asSystem("sign-in", async (tx) => {
      const taken = await tx
        .deleteFrom("ssoExchangeCodes")
        .where("codeHash", "=", sha256(code))
        .where("challenge", "is not distinct from", challenge)
        .where("expiresAt", ">", call.clock.now())
        .returning("sessionId")
        .executeTakeFirst();
      return taken && firstTokens(call, tx, taken.sessionId);
    }),
  );
  if (!pair) throw problem("INVALID_EXCHANGE_CODE");
  return pair;
}

/** What may have happened since the sign-in counts: session ended, account disabled, membership gone, tenant closed. */
async function firstTokens(call: ExchangeCall, tx: Tx, sessionId: string): Promise<TokenPair | undefined> {
  const session = await tx
    .selectFrom("sessions")
    .innerJoin("users", "users.id", "sessions.userId")
    .where("sessions.id", "=", sessionId)
    .where("sessions.revokedAt", "is", null)
    .where("sessions.absoluteExpiresAt", ">", call.clock.now())
    .where("users.status", "=", "active")
    .select(["sessions.id", "sessions.userId", "sessions.absoluteExpiresAt", "sessions.mfaVerifiedAt"])
    .select(["sessions.memberOrgId", "sessions.memberPartnerId"])
    .executeTakeFirst();
  if (!session) return undefined;
  const tenant = { orgId: session.memberOrgId, partnerId: session.memberPartnerId };
  const member = await membershipIn(tx, session.userId, tenant);
  if (!member?.usable) return undefined;
  return issueTokens(call, tx, { ...session, mfa: session.mfaVerifiedAt !== null }, member.membership);
}
