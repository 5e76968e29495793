import type { Reader } from "#server/db/unit-of-work";
import { type Candidate, candidatesOf, isOf, type Membership, type TenantOf, usable } from "./membership-candidates.ts";
import { builtInRoleId } from "./roles.ts";

export type { Membership };

/** The membership that a user would sign in with, or why there is none. */
export interface Standing {
  /** Undefined: no membership to sign in with. */
  readonly membership: Membership | undefined;
  /** Chain of audit entries about this user, refused sign-ins included; undefined if the user has no tenant. */
  readonly owner: { readonly orgId?: string; readonly partnerId?: string } | undefined;
  readonly refusal: "partner_inactive" | "organization_inactive" | "no_membership" | undefined;
}

/**
 * Selects the membership of a user (docs/sign-in.md, "Tenant of a session"): system scope for platform administrators,
 * else the oldest usable membership of a partner, else the oldest of an active or trial organization. Memberships of
 * closed tenants are skipped, so that one suspended tenant does not lock a person out of the others.
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

/** The membership in exactly this tenant, for a sign-in through the tenant's identity provider. */
export async function membershipIn(
  db: Reader,
  userId: string,
  tenant: TenantOf,
): Promise<{ membership: Membership; usable: boolean; roleScope: string } | undefined> {
  const found = (await candidatesOf(db, userId)).find((one) => isOf(one.membership, tenant));
  return found && { membership: found.membership, usable: usable(found), roleScope: found.roleScope };
}

/** The audit chain of what a member does in this tenant. */
export function ownerOf(membership: Pick<Membership, "scope" | "partnerId" | "orgId">): NonNullable<Standing["owner"]> {
  if (membership.scope === "organization") return { orgId: membership.orgId as string };
  return membership.scope === "partner" ? { partnerId: membership.partnerId as string } : {};
}
