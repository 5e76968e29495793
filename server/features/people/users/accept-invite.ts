import type { Endpoint } from "#contract/core/endpoint";
import type { users } from "#contract/resources/people/users";
import { judged, underLimits } from "#server/access/attempts";
import { checkPassword, hashPassword } from "#server/access/password";
import type { Tx } from "#server/db/unit-of-work";
import { activateAccount } from "#server/features/people/core/activate-account";
import { findUserById, type SignInUser } from "#server/features/people/core/find-user";
import { replacePassword } from "#server/features/people/core/replace-password";
import { clearWrongPasswords, countWrongPassword } from "#server/features/people/core/wrong-passwords";
import { completeSignIn } from "#server/features/sign-in/core/complete-sign-in";
import { chainOf } from "#server/features/sign-in/core/invitation";
import { loginLimits } from "#server/features/sign-in/core/login-limits";
import { redeemInvitation } from "#server/features/sign-in/core/redeem-invitation";
import { refuseWeak } from "#server/features/sign-in/core/refuse-weak";
import { startMfaLogin } from "#server/features/sign-in/core/start-mfa-login";
import { endUserTokens } from "#server/features/sign-in/core/user-tokens";
import { proveAddress } from "#server/features/sign-in/passwords/prove-address";
import type { Call } from "#server/http/call";
import { clientBlock } from "#server/platform/ip-address";
import { problem } from "#server/problem";
import { findInvitation, type OpenInvitation } from "./find-invitation.ts";
import { acceptPerAddress } from "./rules.ts";

type AcceptCall = typeof users.acceptInvite extends Endpoint<infer T> ? Call<T> : never;

interface Accepting {
  invitation: OpenInvitation;
  user: SignInUser;
}

/**
 * Accepts an invitation and signs in (docs/people.md, "Accepting an invitation"): with a first password, or with the one
 * that the account has, which is never replaced.
 */
export async function acceptInvite(call: AcceptCall) {
  refuseWeak(call.body.password, "password");
  return underLimits(call.services, [[acceptPerAddress, clientBlock(call.ip)]], async () => {
    const accepting = await load(call);
    if (!keepsPassword(accepting.user)) return withFirstPassword(call, accepting);
    return judged(call.services, loginLimits(call, accepting.user.email), () => withOwnPassword(call, accepting));
  });
}

/** A password that somebody set before the address was proven is not the person's. */
const keepsPassword = (user: SignInUser) => user.passwordHash !== null && user.emailVerifiedAt !== null;

async function load(call: AcceptCall): Promise<Accepting> {
  const { invitation, user } = await call.readAsSystem("accept invitation", async (db) => {
    const found = await findInvitation(db, call.body.token, call.clock.now());
    return { invitation: found, user: found && (await findUserById(db, found.invited.userId)) };
  });
  if (!invitation || !user) throw problem("INVALID_INVITE");
  const { invited } = invitation;
  // Until it is accepted, the tenant's record too knows the invitation alone.
  const resource = { type: "user", id: invited.membershipId, name: invited.invitedName ?? "" };
  call.audit.note({ owner: chainOf(invited), resource });
  if (!invitation.stands || user.status === "disabled") throw problem("INVALID_INVITE");
  return { invitation, user };
}

async function withFirstPassword(call: AcceptCall, { invitation, user }: Accepting) {
  const passwordHash = await hashPassword(call.body.password);
  const { token, invited } = invitation;
  return call.transaction(() =>
    call.asSystem("accept invitation", async (tx) => {
      const now = call.clock.now();
      if (user.status === "invited") {
        const name = call.body.name ?? invited.invitedName ?? undefined;
        const activated = await activateAccount(tx, user.id, { now, passwordHash, name, provesAddress: false });
        if (!activated) throw problem("INVALID_INVITE");
      } else if (!(await replacePassword(tx, user.id, { passwordHash, instead: user.passwordHash, now }))) {
        throw problem("INVALID_INVITE");
      }
      await proveAddress(tx, user, now);
      await endUserTokens(tx, user.id, ["password_reset", "mfa_login"]);
      return signIn(call, tx, { tokenId: token.id, membershipId: invited.membershipId, userId: user.id });
    }),
  );
}

/** Checked as a sign-in is, with its limits and locks; the same answer for every refusal. */
async function withOwnPassword(call: AcceptCall, { invitation, user }: Accepting) {
  const now = call.clock.now();
  const isLocked = user.lockedUntil !== null && user.lockedUntil > now;
  const matches = await checkPassword(call.body.password, user.passwordHash);
  if (isLocked || !matches) {
    if (!isLocked) await call.asSystem("accept invitation", (tx) => countWrongPassword(tx, user.id, now));
    call.audit.note({ details: { reason: isLocked ? "account_locked" : "wrong_password" } });
    throw problem("INVALID_CREDENTIALS");
  }
  return call.transaction(() =>
    call.asSystem("accept invitation", async (tx) => {
      // An account that was closed and invited again is active once more.
      if (user.status === "invited") await activateAccount(tx, user.id, { now, provesAddress: false });
      if (!(await clearWrongPasswords(tx, user, now))) throw problem("INVALID_CREDENTIALS");
      const { membershipId } = invitation.invited;
      return signIn(call, tx, { tokenId: invitation.token.id, membershipId, userId: user.id });
    }),
  );
}

/** With a second factor the membership waits for it. */
async function signIn(call: AcceptCall, tx: Tx, invitation: { tokenId: string; membershipId: string; userId: string }) {
  const user = await findUserById(tx, invitation.userId);
  if (!user) throw problem("INVALID_INVITE");
  if (user.mfaSecret !== null) {
    // Nothing is accepted yet: the entry is written with the second factor.
    call.audit.skip();
    const { tokenId, membershipId } = invitation;
    return startMfaLogin(call, tx, user, { tokenId, membershipId });
  }
  const membership = await redeemInvitation(call, tx, invitation);
  const began = { mfa: false, method: "invite", action: "user.invite.accepted", refusal: "SSO_REQUIRED" } as const;
  return completeSignIn(call, tx, { user, membership, ...began });
}
