import type { Endpoint } from "#contract/core/endpoint";
import type { passwords } from "#contract/resources/sign-in/passwords";
import { hashPassword } from "#server/access/password";
import { passwordStandingOf } from "#server/access/password-standing";
import { findUserById } from "#server/features/people/core/find-user";
import { noteRescue } from "#server/features/people/core/note-sign-in";
import { replacePassword } from "#server/features/people/core/replace-password";
import { noteUser } from "#server/features/sign-in/core/note-user";
import { refuseWeak } from "#server/features/sign-in/core/refuse-weak";
import { revokeSessions } from "#server/features/sign-in/core/revoke-sessions";
import { endUserTokens, findUserToken, isLive, useUserToken } from "#server/features/sign-in/core/user-tokens";
import type { Call } from "#server/http/call";
import { after, HOUR } from "#server/platform/clock";
import { problem } from "#server/problem";
import { proveAddress } from "./prove-address.ts";

type ResetCall = typeof passwords.reset extends Endpoint<infer T> ? Call<T> : never;

/**
 * Sets a new password with the token of a reset mail, once. Every session ends, a lock is lifted, the
 * second factor stays. Whatever is wrong with the token, the answer is the same.
 */
export async function resetPassword(call: ResetCall) {
  refuseWeak(call.body.password, "password");
  const { token, user } = await load(call);
  const passwordHash = await hashPassword(call.body.password);
  return call.transaction(() =>
    call.asSystem("sign-in", async (tx) => {
      if (!(await useUserToken(tx, token.id, call.clock.now()))) throw problem("INVALID_TOKEN");
      const now = call.clock.now();
      await replacePassword(tx, user.id, { passwordHash, now });
      // The link of a rescue was printed, not mailed.
      if (token.data["rescue"] === true) await noteRescue(tx, user.id, after(now, HOUR));
      else await proveAddress(tx, user, now);
      await endUserTokens(tx, user.id, ["mfa_login", "password_reset"]);
      const ended = await revokeSessions(tx, { userId: user.id }, "password reset", now);
      call.audit.note({ details: { endedSessions: ended } });
      return { success: true as const };
    }),
  );
}

async function load(call: ResetCall) {
  const found = await call.readAsSystem("sign-in", async (db) => {
    const token = await findUserToken(db, "password_reset", call.body.token);
    const user = token && (await findUserById(db, token.userId));
    return { token, user, standing: user && (await passwordStandingOf(db, user, { breakGlass: false })) };
  });
  const { token, user, standing } = found;
  if (!token || !user || !standing) throw problem("INVALID_TOKEN");
  noteUser(call, user);
  call.audit.note({ ...(standing.owner && { owner: standing.owner }) });
  const live = isLive(token, call.clock.now()) && user.status === "active";
  const enforced = standing.refusal === "sso_enforced" && token.data["rescue"] !== true;
  if (live && enforced) throw problem("SSO_REQUIRED");
  const opens = standing.membership !== undefined || standing.refusal === "sso_enforced";
  if (!live || !opens) throw problem("INVALID_TOKEN");
  return { token, user };
}
