import type { Endpoint } from "#contract/core/endpoint";
import type { passwords } from "#contract/resources/sign-in/passwords";
import { hashPassword } from "#server/access/password";
import { passwordStandingOf } from "#server/access/password-standing";
import { endUserTokens } from "#server/features/people/users/user-tokens";
import { ownAccount } from "#server/features/sign-in/mfa/own-account";
import { revokeSessions } from "#server/features/sign-in/sessions/revoke-sessions";
import { renewOwnTokens } from "#server/features/sign-in/sessions/tokens";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { confirmPassword } from "./confirm-password.ts";
import { refuseWeak } from "./rules.ts";

type ChangeCall = typeof passwords.change extends Endpoint<infer T> ? Call<T> : never;

/** Changes the caller's password: other sessions end, this one goes on with the new tokens. */
export async function changePassword(call: ChangeCall) {
  const account = await ownAccount(call);
  const rules = { breakGlass: call.config.ssoBreakGlass };
  const { refusal } = await call.readAsSystem("sign-in", (db) => passwordStandingOf(db, account, rules));
  if (refusal === "sso_enforced") throw problem("SSO_REQUIRED");
  if (account.passwordHash === null) throw problem("PASSWORD_LOGIN_UNAVAILABLE");
  await confirmPassword(call, account, call.body.currentPassword);
  refuseWeak(call.body.newPassword, "newPassword");
  const passwordHash = await hashPassword(call.body.newPassword);
  return call.transaction(() =>
    call.asSystem("sign-in", async (tx) => {
      const now = call.clock.now();
      const { numUpdatedRows } = await tx
        .updateTable("users")
        .set({ passwordHash, passwordChangedAt: now, failedLogins: 0, lockedUntil: null, updatedAt: now })
        .where("id", "=", account.id)
        .where("passwordHash", "=", account.passwordHash)
        .executeTakeFirst();
      // Changed or reset by another request meanwhile: what was confirmed is the password no more.
      if (numUpdatedRows !== 1n) throw problem("INVALID_PASSWORD");
      const which = { userId: account.id, except: user(call).sessionId };
      const ended = await revokeSessions(tx, which, "password changed", now);
      await endUserTokens(tx, account.id, ["mfa_login", "password_reset"]);
      call.audit.note({ details: { endedSessions: ended } });
      return { success: true as const, ...(await renewOwnTokens(call, tx)) };
    }),
  );
}
