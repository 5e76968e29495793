import type { Endpoint } from "#contract/core/endpoint";
import type { mfa } from "#contract/resources/sign-in/mfa";
import { underLimits } from "#server/access/attempts";
import type { Tx } from "#server/db/unit-of-work";
import { dropFactor } from "#server/features/people/core/second-factor";
import { confirmPassword } from "#server/features/sign-in/core/confirm-password";
import { requireHomeSession } from "#server/features/sign-in/core/home-session";
import { ownAccount } from "#server/features/sign-in/core/own-account";
import { forgetMfaVerified } from "#server/features/sign-in/core/session-mfa";
import { endUserTokens } from "#server/features/sign-in/core/user-tokens";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { alsoRecoveryCode, useFactor } from "./factor.ts";
import { mfaPerUser } from "./rules.ts";

type DisableCall = typeof mfa.disable extends Endpoint<infer T> ? Call<T> : never;

/** Turns the factor off, unless role or tenant demand one; no session counts as MFA-satisfied afterwards. */
export async function disableMfa(call: DisableCall) {
  await requireHomeSession(call);
  const account = await ownAccount(call);
  if (account.mfaSecret === null) throw problem("MFA_NOT_ENABLED");
  if (call.config.enable2fa && user(call).mfaForced) throw problem("MFA_REQUIRED_BY_POLICY");
  await confirmPassword(call, account, call.body.currentPassword);
  return underLimits(call.services, [[mfaPerUser, account.id]], () =>
    call.transaction(() =>
      call.asSystem("sign-in", async (tx) => {
        const method = await useFactor(call, tx, account, call.body);
        if (!method) throw problem("INVALID_MFA_CODE");
        await clearFactor(tx, account.id, call.clock.now());
        call.audit.note({ details: { factor: method } });
        if (method === "recovery") alsoRecoveryCode(call, account);
        return { success: true as const };
      }),
    ),
  );
}

/** Removes factor, recovery codes and every session's MFA state. Needs an unscoped handle. */
export async function clearFactor(tx: Tx, userId: string, now: string): Promise<void> {
  await dropFactor(tx, userId, now);
  await tx.deleteFrom("recoveryCodes").where("userId", "=", userId).execute();
  await forgetMfaVerified(tx, userId);
  await endUserTokens(tx, userId, ["mfa_login"]);
}
