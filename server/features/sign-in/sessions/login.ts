import type { Endpoint } from "#contract/core/endpoint";
import type { sessions } from "#contract/resources/sign-in/sessions";
import { judged } from "#server/access/attempts";
import type { Membership } from "#server/access/membership";
import { checkPassword } from "#server/access/password";
import { type PasswordStanding, passwordStandingOf } from "#server/access/password-standing";
import { ZERO_UUID } from "#server/audit/chain";
import type { Tx } from "#server/db/unit-of-work";
import { findUserByEmail, isRescued, type SignInUser } from "#server/features/people/core/find-user";
import { clearWrongPasswords, countWrongPassword } from "#server/features/people/core/wrong-passwords";
import { completeSignIn } from "#server/features/sign-in/core/complete-sign-in";
import { loginLimits } from "#server/features/sign-in/core/login-limits";
import { noteUser } from "#server/features/sign-in/core/note-user";
import { startMfaLogin } from "#server/features/sign-in/core/start-mfa-login";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { responseFloor } from "./response-floor.ts";
import { LOGIN_FLOOR_MS, type LoginRefusal, refusalOf } from "./rules.ts";

type LoginCall = typeof sessions.login extends Endpoint<infer T> ? Call<T> : never;

/**
 * Signs in with email and password (docs/sign-in.md, "Signing in with a password"). Every refusal is the same 401 after
 * the same work and not before the response floor; only the audit log of the user's tenant has the reason.
 */
export async function login(call: LoginCall) {
  const floor = responseFloor(LOGIN_FLOOR_MS);
  try {
    return await judged(call.services, loginLimits(call, call.body.email), () => attempt(call));
  } catch (error) {
    await floor.reached();
    throw error;
  }
}

async function attempt(call: LoginCall) {
  const { user, standing } = await call.readAsSystem("sign-in", async (db) => {
    const found = await findUserByEmail(db, call.body.email);
    const rules = { breakGlass: call.config.ssoBreakGlass, rescued: isRescued(found, call.clock.now()) };
    return { user: found, standing: await passwordStandingOf(db, found ?? unknown, rules) };
  });
  if (user) {
    noteUser(call, user);
    call.audit.note({ ...(standing.owner && { owner: standing.owner }) });
  }
  const passwordMatches = await checkPassword(call.body.password, user?.passwordHash ?? null);
  const reason = refusalOf({ user, passwordMatches, closed: standing.refusal, now: call.clock.now() });
  if (reason !== undefined || !user || !standing.membership) return refuse(call, user, reason ?? "no_membership");
  const admitted = { ...standing, user, membership: standing.membership };
  return call.transaction(() => call.asSystem("sign-in", (tx) => admit(call, tx, admitted)));
}

const unknown = { id: ZERO_UUID, isPlatformAdmin: false, mfaSecret: null };

interface Admitted extends Pick<PasswordStanding, "breaksGlass" | "needsRescue"> {
  user: SignInUser;
  membership: Membership;
}

async function admit(call: LoginCall, tx: Tx, { user, membership, breaksGlass, needsRescue }: Admitted) {
  if (!(await clearWrongPasswords(tx, user, call.clock.now()))) {
    call.audit.note({ action: "user.login.failed", details: { reason: "account_locked" } });
    throw problem("INVALID_CREDENTIALS");
  }
  if (user.mfaSecret === null) {
    call.audit.note({ action: "user.login.failed" });
    const began = { method: "password", breaksGlass, needsRescue, refusal: "INVALID_CREDENTIALS" } as const;
    return completeSignIn(call, tx, { user, membership, mfa: false, ...began });
  }
  // The user is not signed in yet: the entry is written with the second factor.
  call.audit.skip();
  return startMfaLogin(call, tx, user);
}

/** Counts the failure and answers; the same statements run whether or not the address is known. */
async function refuse(call: LoginCall, user: SignInUser | undefined, reason: LoginRefusal): Promise<never> {
  const counted = reason === "wrong_password" && user ? user.id : ZERO_UUID;
  const lockedUntil = await call.asSystem("sign-in", (tx) => countWrongPassword(tx, counted, call.clock.now()));
  call.audit.note({ action: "user.login.failed", details: { reason, ...(lockedUntil && { lockedUntil }) } });
  throw problem("INVALID_CREDENTIALS");
}
