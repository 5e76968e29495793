import type { Endpoint } from "#contract/core/endpoint";
import type { passwords } from "#contract/resources/sign-in/passwords";
import { hashPassword } from "#server/access/password";
import { passwordStandingOf } from "#server/access/password-standing";
import { replacePassword } from "#server/features/people/core/replace-password";
import { confirmPassword } from "#server/features/sign-in/core/confirm-password";
import { ownAccount } from "#server/features/sign-in/core/own-account";
import { refuseWeak } from "#server/features/sign-in/core/refuse-weak";
import { revokeSessions } from "#server/features/sign-in/core/revoke-sessions";
import { renewOwnTokens } from "#server/features/sign-in/core/tokens";
import { endUserTokens } from "#server/features/sign-in/core/user-tokens";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";

type ChangeCall = typeof passwords.change extends Endpoint<infer T> ? Call<T> : never;

/** Changes the caller's password: other sessions end, this one goes on with the new tokens. */
export async function changePassword(call: ChangeCall) {
  const account = await ownAccount(call);
  const rules = { breakGlass: call.config.ssoBreakGlass };
  const { refusal } = await call.readAsSystem("sign-in", (db) => passwordStandingOf(db, account, rules));
  if (refusal === "sso_enforced") throw problem("SSO_REQUIRED");
  const confirmed = account.passwordHash;
  if (confirmed === null) throw problem("PASSWORD_LOGIN_UNAVAILABLE");
  await confirmPassword(call, account, call.body.currentPassword);
  refuseWeak(call.body.newPassword, "newPassword");
  const passwordHash = await hashPassword(call.body.newPassword);
  return call.transaction(() =>
    call.asSystem("sign-in", async (tx) => {
      const now = call.clock.now();
      const replaced = await replacePassword(tx, account.id, { passwordHash, instead: confirmed, now });
      // Changed or reset by another request meanwhile: what was confirmed is the password no more.
      if (!replaced) throw problem("INVALID_PASSWORD");
      const which = { userId: account.id, except: user(call).sessionId };
      const ended = await revokeSessions(tx, which, "password changed", now);
      await endUserTokens(tx, account.id, ["mfa_login", "password_reset"]);
      call.audit.note({ details: { endedSessions: ended } });
      return { success: true as const, ...(await renewOwnTokens(call, tx)) };
    }),
  );
}
