import type { Endpoint } from "#contract/core/endpoint";
import type { users } from "#contract/resources/people/users";
import { takeAttempt } from "#server/access/attempts";
import { hashPassword } from "#server/access/password";
import { type PasswordStanding, passwordStandingOf } from "#server/access/password-standing";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { activateAccount } from "#server/features/people/core/activate-account";
import { findUserById } from "#server/features/people/core/find-user";
import { completeSignIn } from "#server/features/sign-in/core/complete-sign-in";
import { noteUser } from "#server/features/sign-in/core/note-user";
import { refuseWeak } from "#server/features/sign-in/core/refuse-weak";
import { endUserTokens, isLive, useUserToken } from "#server/features/sign-in/core/user-tokens";
import type { Call } from "#server/http/call";
import { clientBlock } from "#server/platform/ip-address";
import { problem } from "#server/problem";
import { findInvitation, type OpenInvitation } from "./find-invitation.ts";
import { acceptPerAddress } from "./rules.ts";

type AcceptCall = typeof users.acceptInvite extends Endpoint<infer T> ? Call<T> : never;

/** Sets the first password of an invited person and signs them in (docs/people.md, "Accepting an invitation"). */
export async function acceptInvite(call: AcceptCall) {
  refuseWeak(call.body.password, "password");
  const address = clientBlock(call.ip);
  await takeAttempt(call.services, acceptPerAddress, address);
  const invitation = await load(call);
  const passwordHash = await hashPassword(call.body.password);
  return call.transaction(() =>
    call.asSystem("accept invitation", async (tx) => {
      await activate(call, tx, invitation, passwordHash);
      const user = await findUserById(tx, invitation.user.id);
      const membership = user && (await standing(tx, user.id)).membership;
      if (!user || !membership) throw problem("INVALID_INVITE");
      await call.services.limiter.giveBack(acceptPerAddress, address);
      const signIn = { user, membership, mfa: false, method: "invite", action: "user.invite.accepted" } as const;
      return completeSignIn(call, tx, signIn);
    }),
  );
}

async function load(call: AcceptCall): Promise<OpenInvitation> {
  const { found, owner, refusal } = await call.readAsSystem("accept invitation", async (db) => {
    const invitation = await findInvitation(db, call.body.token);
    const stands = invitation && (await standing(db, invitation.user.id));
    return { found: invitation, owner: stands?.owner, refusal: stands?.refusal };
  });
  if (!found) throw problem("INVALID_INVITE");
  noteUser(call, found.user);
  call.audit.note({ ...(owner && { owner }) });
  if (!isLive(found.token, call.clock.now()) || found.user.status !== "invited") throw problem("INVALID_INVITE");
  // The first sign-in through the identity provider accepts the invitation instead.
  if (refusal === "sso_enforced") throw problem("SSO_REQUIRED");
  return found;
}

const standing = (db: Reader, userId: string): Promise<PasswordStanding> =>
  passwordStandingOf(db, { id: userId, isPlatformAdmin: false, mfaSecret: null }, { breakGlass: false });

async function activate(call: AcceptCall, tx: Tx, { token, user }: OpenInvitation, passwordHash: string) {
  const now = call.clock.now();
  if (!(await useUserToken(tx, token.id, now))) throw problem("INVALID_INVITE");
  const activated = await activateAccount(tx, user.id, { now, passwordHash, name: call.body.name });
  if (!activated) throw problem("INVALID_INVITE");
  await endUserTokens(tx, user.id, ["invite", "password_reset"]);
}
