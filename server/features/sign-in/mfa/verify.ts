import type { Endpoint } from "#contract/core/endpoint";
import type { mfa } from "#contract/resources/sign-in/mfa";
import { underLimits } from "#server/access/attempts";
import { ownerOf } from "#server/access/membership";
import { passwordStandingOf } from "#server/access/password-standing";
import { findUserById, isRescued } from "#server/features/people/core/find-user";
import { completeSignIn } from "#server/features/sign-in/core/complete-sign-in";
import { noteUser } from "#server/features/sign-in/core/note-user";
import { proofOf } from "#server/features/sign-in/core/proof-of";
import { redeemInvitation } from "#server/features/sign-in/core/redeem-invitation";
import type { PendingInvitation } from "#server/features/sign-in/core/start-mfa-login";
import {
  findUserToken,
  isLive,
  takeTry,
  type UserToken,
  useUserToken,
} from "#server/features/sign-in/core/user-tokens";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { alsoRecoveryCode, useFactor } from "./factor.ts";
import { mfaPerUser } from "./rules.ts";

type VerifyCall = typeof mfa.verify extends Endpoint<infer T> ? Call<T> : never;

/**
 * Finishes a sign-in with the second factor (docs/sign-in.md, "Using a second factor"). The temporary token ends with
 * success, five wrong codes, or any change of the user's password, factor or status. Of two calls with one code one
 * wins.
 */
export async function verifyMfa(call: VerifyCall) {
  const loaded = await load(call);
  return underLimits(call.services, [[mfaPerUser, loaded.user.id]], () => judge(call, loaded));
}

async function judge(call: VerifyCall, { token, user, standing, invitation }: Awaited<ReturnType<typeof load>>) {
  const tried = await call.asSystem("sign-in", (tx) => takeTry(tx, token.id, call.clock.now()));
  if (!tried) throw problem("MFA_SESSION_EXPIRED");
  call.audit.note({ details: { reason: "mfa_failed" } });
  const { breaksGlass, needsRescue } = standing;
  const breaking = { breaksGlass, needsRescue };
  return call.transaction(() =>
    call.asSystem("sign-in", async (tx) => {
      const method = await useFactor(call, tx, user, call.body);
      if (!method) throw problem("INVALID_MFA_CODE");
      if (!(await useUserToken(tx, token.id, call.clock.now()))) throw problem("MFA_SESSION_EXPIRED");
      const membership = invitation
        ? await redeemInvitation(call, tx, { ...invitation, userId: user.id })
        : standing.membership;
      if (!membership) throw problem("MFA_SESSION_EXPIRED");
      const began = invitation
        ? ({ method: "invite", action: "user.invite.accepted", refusal: "SSO_REQUIRED" } as const)
        : ({ method: "password", ...breaking, refusal: "MFA_SESSION_EXPIRED" } as const);
      const answer = await completeSignIn(call, tx, { user, membership, mfa: true, ...began });
      call.audit.note({ details: { reason: undefined, factor: method } });
      if (method === "recovery") alsoRecoveryCode(call, user, ownerOf(membership));
      return answer;
    }),
  );
}

/** The live token and its user; from here on the entry of a failure belongs to that user. */
async function load(call: VerifyCall) {
  const { token, user, standing } = await call.readAsSystem("sign-in", async (db) => {
    const found = await findUserToken(db, "mfa_login", call.body.tempToken);
    const owner = found && (await findUserById(db, found.userId));
    const rules = { breakGlass: call.config.ssoBreakGlass, rescued: isRescued(owner, call.clock.now()) };
    return { token: found, user: owner, standing: owner && (await passwordStandingOf(db, owner, rules)) };
  });
  if (!token || !user || !standing) throw problem("MFA_SESSION_EXPIRED");
  noteUser(call, user);
  call.audit.note({
    action: "user.login.failed",
    ...(standing.owner && { owner: standing.owner }),
    // Enforcement that was turned on after the password was given also ends the temporary token.
    details: { reason: standing.refusal === "sso_enforced" ? standing.refusal : "mfa_session_expired" },
  });
  const invitation = token.data["invitation"] as PendingInvitation | undefined;
  const opens = invitation !== undefined || standing.membership !== undefined;
  if (!isUsable(call, token, user) || !opens) throw problem("MFA_SESSION_EXPIRED");
  return { token, user, standing, invitation };
}

function isUsable(call: VerifyCall, token: UserToken, user: Awaited<ReturnType<typeof findUserById>>): boolean {
  if (user?.status !== "active" || user.mfaSecret === null) return false;
  return isLive(token, call.clock.now()) && token.data["proof"] === proofOf(user);
}
