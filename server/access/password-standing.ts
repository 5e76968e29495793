import type { Reader } from "#server/db/unit-of-work";
import { admitted, type Membership, ofInstallation, ownerOf, refused, type Standing } from "./membership.ts";
import { type Candidate, candidatesOf, usable } from "./membership-candidates.ts";
import { builtInRoleId } from "./roles.ts";

/** The membership that a password alone opens, or why there is none. */
export interface PasswordStanding extends Omit<Standing, "refusal"> {
  readonly refusal: Standing["refusal"] | "sso_enforced";
  /** The tenant enforces single sign-on, and break-glass or a rescue lets the person in. */
  readonly breaksGlass: boolean;
  /** Nothing but the rescue does. */
  readonly needsRescue: boolean;
}

interface PasswordHolder {
  readonly id: string;
  readonly isPlatformAdmin: boolean;
  readonly mfaSecret: string | null;
}

interface PasswordRules {
  /** The operator's `SSO_BREAK_GLASS`; resets never break it. */
  readonly breakGlass: boolean;
  /** A rescue on the server's host lets this sign-in pass (docs/sign-in.md, "Rescue"). */
  readonly rescued?: boolean;
}

/** Roles for break-glass: the built-in administrator of the tenant (docs/single-sign-on.md, "Break-glass"). */
const administrators: Record<Membership["scope"], string | undefined> = {
  organization: builtInRoleId("Org Admin"),
  partner: builtInRoleId("Partner Admin"),
  system: undefined,
};

/**
 * The membership of a sign-in by password (docs/single-sign-on.md, "Enforcement"). Tenants that enforce single sign-on
 * are skipped like closed ones: a password opens none of them, and none of them locks a person out of the others. Runs
 * the same statements for every user.
 */
export async function passwordStandingOf(
  db: Reader,
  user: PasswordHolder,
  { breakGlass, rescued = false }: PasswordRules,
): Promise<PasswordStanding> {
  const ordinary = { breaksGlass: false, needsRescue: false };
  if (user.isPlatformAdmin) return { ...ofInstallation, ...ordinary };
  const candidates = await candidatesOf(db, user.id);
  const mayBreak = ({ membership }: Candidate) =>
    breakGlass && user.mfaSecret !== null && membership.roleId === administrators[membership.scope];
  const chosen = candidates.find((one) => usable(one) && (!one.ssoEnforced || rescued || mayBreak(one)));
  if (chosen) {
    const { ssoEnforced: breaksGlass } = chosen;
    return { ...admitted(chosen), breaksGlass, needsRescue: breaksGlass && !mayBreak(chosen) };
  }
  const enforcing = candidates.find(usable);
  if (!enforcing) return { ...refused(candidates), ...ordinary };
  const owner = ownerOf(enforcing.membership);
  return { membership: undefined, owner, refusal: "sso_enforced", ...ordinary };
}
