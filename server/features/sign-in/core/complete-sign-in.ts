import type { AuditAction } from "#contract/core/generated/audit-actions";
import { isEnforced } from "#server/access/enforcement";
import { type Membership, ownerOf } from "#server/access/membership";
import type { Tx } from "#server/db/unit-of-work";
import type { SignInUser } from "#server/features/people/core/find-user";
import { endRescue } from "#server/features/people/core/note-sign-in";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { noteUser } from "./note-user.ts";
import { openSession } from "./open-session.ts";
import { issueTokens } from "./tokens.ts";

export interface SignIn {
  user: Pick<SignInUser, "id" | "email" | "name" | "avatarUrl" | "mfaSecret" | "isPlatformAdmin">;
  membership: Membership;
  /** The second factor was given. */
  mfa: boolean;
  /** How the user authenticated, for the audit entry. */
  method: "password" | "invite";
  action?: AuditAction;
  /** Single sign-on is enforced, and break-glass or a rescue was used: leaves an entry of its own. */
  breaksGlass?: boolean;
  /** Nothing but a rescue lets the person in. */
  needsRescue?: boolean;
  /** What is answered where enforcement began, or the rescue was used, since the password was judged. */
  refusal: "INVALID_CREDENTIALS" | "MFA_SESSION_EXPIRED" | "SSO_REQUIRED";
}

/**
 * The only place where a password or an invitation ends in a session: its row, first tokens, audit entry and answer.
 */
export async function completeSignIn(call: Call, tx: Tx, signIn: SignIn) {
  const { user, membership, mfa } = signIn;
  const enforced = await isEnforced(tx, call.services.store.dialect, membership);
  const rescued = signIn.breaksGlass === true && (await endRescue(tx, user.id, call.clock.now()));
  const passes = signIn.breaksGlass === true && (rescued || !signIn.needsRescue);
  if (enforced && !passes) {
    call.audit.note({ details: { reason: "sso_enforced" } });
    throw problem(signIn.refusal);
  }
  const session = await openSession(call, tx, { userId: user.id, membership, mfa, ssoProviderId: null, enforced });
  const tokens = await issueTokens(call, tx, { ...session, mfa }, membership);
  noteUser(call, user);
  const owner = ownerOf(membership);
  call.audit.note({
    action: signIn.action ?? "user.login",
    owner,
    details: { method: signIn.method, mfa, sessionId: session.id },
  });
  call.emit("user.login", { ...owner, data: { userId: user.id, userName: user.name, method: signIn.method, mfa } });
  if (signIn.breaksGlass) {
    call.audit.also({
      action: "sso.break_glass.login",
      resource: { type: "user", id: user.id, name: user.name },
      actor: { type: "user", id: user.id, email: user.email },
      owner,
      details: { sessionId: session.id },
    });
  }
  return { ...tokens, ...answer(call, signIn) };
}

function answer(call: Call, { user, membership }: SignIn) {
  const mfaEnabled = user.mfaSecret !== null;
  return {
    user: {
      id: user.id,
      email: user.email,
      name: user.name,
      avatarUrl: user.avatarUrl,
      mfaEnabled,
      isPlatformAdmin: user.isPlatformAdmin,
      scope: membership.scope,
      partnerId: membership.partnerId,
      orgId: membership.orgId,
    },
    mfaRequired: false as const,
    mfaEnrollmentRequired: call.config.enable2fa && membership.mfaForced && !mfaEnabled,
  };
}
