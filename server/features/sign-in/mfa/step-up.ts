import type { Endpoint } from "#contract/core/endpoint";
import type { mfa } from "#contract/resources/sign-in/mfa";
import { type Counted, underLimits } from "#server/access/attempts";
import { isHomeSession } from "#server/features/sign-in/core/home-session";
import { ownAccount } from "#server/features/sign-in/core/own-account";
import { markMfaVerified } from "#server/features/sign-in/core/session-mfa";
import { renewOwnTokens } from "#server/features/sign-in/core/tokens";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { alsoRecoveryCode, useFactor } from "./factor.ts";
import { mfaPerUser } from "./rules.ts";

type StepUpCall = typeof mfa.stepUp extends Endpoint<infer T> ? Call<T> : never;

/** Makes the caller's session MFA-satisfied; it goes on with the new tokens. */
export async function stepUpMfa(call: StepUpCall) {
  const account = await ownAccount(call);
  call.audit.note({ action: "auth.mfa.stepup.failed" });
  if (account.mfaSecret === null) throw problem("MFA_NOT_ENABLED");
  return underLimits(call.services, await countedFor(call), () =>
    call.transaction(() =>
      call.asSystem("sign-in", async (tx) => {
        const method = await useFactor(call, tx, account, call.body);
        if (!method) throw problem("INVALID_MFA_CODE");
        await markMfaVerified(tx, user(call).sessionId, call.clock.now());
        call.audit.note({ action: "auth.mfa.stepup.granted", details: { factor: method } });
        if (method === "recovery") alsoRecoveryCode(call, account);
        return renewOwnTokens(call, tx);
      }),
    ),
  );
}

/**
 * Failures in a session that another tenant's provider began count against the session and against the provider's
 * sessions of this person, never against the person: no tenant can lock a guest out of the others.
 */
async function countedFor(call: StepUpCall): Promise<Counted[]> {
  const who = user(call);
  const isHome = await call.readAsSystem("sign-in", (db) => isHomeSession(db, who, call.clock.now()));
  if (isHome) return [[mfaPerUser, who.userId]];
  return [
    [mfaPerUser, `session ${who.sessionId}`],
    [mfaPerUser, `provider ${who.ssoProviderId} ${who.userId}`],
  ];
}
