import type { Endpoint } from "#contract/core/endpoint";
import type { mfa } from "#contract/resources/sign-in/mfa";
import { takeAttempt } from "#server/access/attempts";
import { renewOwnTokens } from "#server/features/sign-in/sessions/tokens";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { alsoRecoveryCode, useFactor } from "./factor.ts";
import { ownAccount } from "./own-account.ts";
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
      await tx
        .updateTable("sessions")
        .set({ mfaVerifiedAt: call.clock.now() })
        .where("id", "=", user(call).sessionId)
        .execute();
      await call.services.limiter.giveBack(mfaPerUser, account.id);
      call.audit.note({ action: "auth.mfa.stepup.granted", details: { factor: method } });
      if (method === "recovery") alsoRecoveryCode(call, account);
      return renewOwnTokens(call, tx);
    }),
  );
}
