import type { Reader } from "#server/db/unit-of-work";
import { admitted, type Membership, ofInstallation, ownerOf, refused, type Standing } from "./membership.ts";
import { type Candidate, candidatesOf, isOf, type TenantOf, usable } from "./membership-candidates.ts";
import { builtInRoleId } from "./roles.ts";

/** Where a person stands who has given a password and nothing else. */
export interface PasswordStanding extends Omit<Standing, "refusal"> {
  readonly refusal: Standing["refusal"] | "sso_enforced";
  /** The tenant enforces single sign-on and lets its administrator in all the same. */
  readonly breaksGlass: boolean;
}

interface PasswordHolder {
  readonly id: string;
  readonly isPlatformAdmin: boolean;
  readonly mfaSecret: string | null;
}

interface PasswordRules {
  /** The operator's `SSO_BREAK_GLASS`; resets never break it. */
  readonly breakGlass: boolean;
  /** Tenant of a session that is under way: enforcement that came later does not end it. */
  readonly begunIn?: TenantOf;
}

/** Who may break the glass: the built-in administrator of the tenant, with a second factor. */
const administrators: Record<Membership["scope"], string | undefined> = {
  organization: builtInRoleId("Org Admin"),
  partner: builtInRoleId("Partner Admin"),
  system: undefined,
};

/**
 * `standingOf` where a password is all that was given (contract 4 §6.3). Tenants that enforce single sign-on are passed
 * over as closed ones are: a password opens none of them, and none of them locks a shared person out of the others.
 * The same statements whoever it is.
 */
export async function passwordStandingOf(
  db: Reader,
  user: PasswordHolder,
  { breakGlass, begunIn }: PasswordRules,
): Promise<PasswordStanding> {
  if (user.isPlatformAdmin) return { ...ofInstallation, breaksGlass: false };
  const candidates = await candidatesOf(db, user.id);
  const isGoingOn = ({ membership }: Candidate) => begunIn !== undefined && isOf(membership, begunIn);
  const mayBreak = ({ membership }: Candidate) =>
    breakGlass && user.mfaSecret !== null && membership.roleId === administrators[membership.scope];
  const chosen = candidates.find((one) => usable(one) && (!one.ssoEnforced || isGoingOn(one) || mayBreak(one)));
  if (chosen) return { ...admitted(chosen), breaksGlass: chosen.ssoEnforced && !isGoingOn(chosen) };
  const enforcing = candidates.find(usable);
  if (!enforcing) return { ...refused(candidates), breaksGlass: false };
  const owner = ownerOf(enforcing.membership);
  return { membership: undefined, owner, refusal: "sso_enforced", breaksGlass: false };
}
