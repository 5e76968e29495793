import type { Endpoint } from "#contract/core/endpoint";
import type { mfa } from "#contract/resources/sign-in/mfa";
import { takeAttempt } from "#server/access/attempts";
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
  await takeAttempt(call.services, mfaPerUser, account.id);
  return call.transaction(() =>
    call.asSystem("sign-in", async (tx) => {
      const method = await useFactor(call, tx, account, call.body);
      if (!method) throw problem("INVALID_MFA_CODE");
      await markMfaVerified(tx, user(call).sessionId, call.clock.now());
      await call.services.limiter.giveBack(mfaPerUser, account.id);
      call.audit.note({ action: "auth.mfa.stepup.granted", details: { factor: method } });
      if (method === "recovery") alsoRecoveryCode(call, account);
      return renewOwnTokens(call, tx);
    }),
  );
}
