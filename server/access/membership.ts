import type { Reader } from "#server/db/unit-of-work";
import { type Candidate, candidatesOf, isOf, type Membership, type TenantOf, usable } from "./membership-candidates.ts";
import { builtInRoleId } from "./roles.ts";

export type { Membership };

/** Where a user stands, whether or not it may sign in. */
export interface Standing {
  /** Undefined = nothing to sign in as. */
  readonly membership: Membership | undefined;
  /** Chain of entries about this user, refused sign-ins included; undefined = of no tenant at all. */
  readonly owner: { readonly orgId?: string; readonly partnerId?: string } | undefined;
  readonly refusal: "partner_inactive" | "organization_inactive" | "no_membership" | undefined;
}

/**
 * Selects the membership of a user (contract 1 A2): the installation's for platform administrators, else
 * the oldest usable one of a partner, else the oldest of an active or trial organization. Memberships of
 * tenants that are closed are passed over, so that one suspended tenant does not lock a shared person out
 * of the others.
 */
export async function standingOf(db: Reader, user: { id: string; isPlatformAdmin: boolean }): Promise<Standing> {
  if (user.isPlatformAdmin) return ofInstallation;
  const candidates = await candidatesOf(db, user.id);
  const chosen = candidates.find(usable);
  return chosen ? admitted(chosen) : refused(candidates);
}

export const ofInstallation: Standing = {
  membership: {
    scope: "system",
    partnerId: null,
    orgId: null,
    roleId: builtInRoleId("System Admin"),
    mfaForced: false,
  },
  owner: {},
  refusal: undefined,
};

export const admitted = ({ membership }: Candidate) => ({ membership, owner: ownerOf(membership), refusal: undefined });

export function refused([closed]: readonly Candidate[]) {
  if (!closed) return { membership: undefined, owner: undefined, refusal: "no_membership" as const };
  return {
    membership: undefined,
    owner: ownerOf(closed.membership),
    refusal: closed.partnerOpen ? ("organization_inactive" as const) : ("partner_inactive" as const),
  };
}

/** The membership of exactly this tenant: what a sign-in counts as that the tenant's identity provider vouches for. */
export async function membershipIn(
  db: Reader,
  userId: string,
  tenant: TenantOf,
): Promise<{ membership: Membership; usable: boolean; roleScope: string } | undefined> {
  const found = (await candidatesOf(db, userId)).find((one) => isOf(one.membership, tenant));
  return found && { membership: found.membership, usable: usable(found), roleScope: found.roleScope };
}

/** The chain of what a member does in this tenant. */
export function ownerOf(membership: Pick<Membership, "scope" | "partnerId" | "orgId">): NonNullable<Standing["owner"]> {
  if (membership.scope === "organization") return { orgId: membership.orgId as string };
  return membership.scope === "partner" ? { partnerId: membership.partnerId as string } : {};
}
