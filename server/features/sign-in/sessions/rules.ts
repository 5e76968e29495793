import type { Limit } from "#server/access/rate-limit";
import { SECOND } from "#server/platform/clock";

/** Counts failed sign-ins only (docs/sign-in.md, "Guessing"). */
export const loginPerAddressAndEmail: Limit = { name: "login-email", max: 5, windowSeconds: 300 };
export const loginPerAddress: Limit = { name: "login-ip", max: 30, windowSeconds: 300 };
/** Refused refreshes of a user's known tokens. */
export const refreshPerUser: Limit = { name: "refresh", max: 30, windowSeconds: 60 };

/** A spent refresh token that comes back within this was raced by a parallel refresh, not stolen. */
export const REFRESH_RACE_MS = 10 * SECOND;
/** No refused sign-in is answered sooner. */
export const LOGIN_FLOOR_MS = 200;

export type LoginRefusal =
  | "unknown_email"
  | "user_invited"
  | "user_disabled"
  | "account_locked"
  | "wrong_password"
  | "sso_enforced"
  | "partner_inactive"
  | "organization_inactive"
  | "no_membership";

interface LoginAttempt {
  user: { status: "invited" | "active" | "disabled"; lockedUntil: string | null } | undefined;
  passwordMatches: boolean;
  /** Why the user has no membership to sign in with. */
  closed: "partner_inactive" | "organization_inactive" | "no_membership" | "sso_enforced" | undefined;
  now: string;
}

/** Why a sign-in is refused, for the audit log only: every caller gets the same answer. */
export function refusalOf({ user, passwordMatches, closed, now }: LoginAttempt): LoginRefusal | undefined {
  if (!user) return "unknown_email";
  if (user.status === "invited") return "user_invited";
  if (user.status === "disabled") return "user_disabled";
  if (user.lockedUntil !== null && user.lockedUntil > now) return "account_locked";
  // Regardless of the password: enforcement takes no password, so a wrong one must not lock the account.
  if (closed === "sso_enforced") return closed;
  if (!passwordMatches) return "wrong_password";
  return closed;
}

interface RefreshState {
  spentAt: string | null;
  expiresAt: string;
  session: { revokedAt: string | null; absoluteExpiresAt: string };
  userStatus: string;
}

export type RefreshDecision = "rotate" | "raced" | "reused" | "invalid";

/** What to do with a refresh token that exists (docs/sign-in.md, "Refreshing"). */
export function decideRefresh(token: RefreshState, now: string): RefreshDecision {
  const over = token.session.revokedAt !== null || token.session.absoluteExpiresAt <= now;
  if (over || token.userStatus !== "active") return "invalid";
  if (token.spentAt !== null) {
    return Date.parse(now) - Date.parse(token.spentAt) <= REFRESH_RACE_MS ? "raced" : "reused";
  }
  return token.expiresAt > now ? "rotate" : "invalid";
}
