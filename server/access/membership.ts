import type { Reader } from "#server/db/unit-of-work";
import type { TenantOf } from "./enforcement.ts";
import { type Candidate, candidatesOf, isOf, type Membership, usable } from "./membership-candidates.ts";
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

/** What a platform administrator's password opens (docs/sign-in.md, "Tenant of a session"). */
export const ofInstallation = {
  membership: {
    id: null,
    scope: "system",
    partnerId: null,
    orgId: null,
    roleId: builtInRoleId("System Admin"),
    mfaForced: false,
  },
  owner: {},
  refusal: undefined,
} as const satisfies Standing;

export const admitted = ({ membership }: Candidate) => ({ membership, owner: ownerOf(membership), refusal: undefined });

export function refused([closed]: readonly Candidate[]) {
  if (!closed) return { membership: undefined, owner: undefined, refusal: "no_membership" as const };
  return {
    membership: undefined,
    owner: ownerOf(closed.membership),
    refusal: closed.partnerOpen ? ("organization_inactive" as const) : ("partner_inactive" as const),
  };
}

export interface MemberIn {
  readonly membership: Membership;
  readonly usable: boolean;
  /** Not usable now, and may be again: the partner is suspended. */
  readonly suspended: boolean;
  readonly roleScope: string;
}

/** The accepted membership in exactly this tenant, for its provider's sign-ins and for sessions that began there. */
export async function membershipIn(db: Reader, userId: string, tenant: TenantOf): Promise<MemberIn | undefined> {
  const found = (await candidatesOf(db, userId)).find((one) => isOf(one.membership, tenant));
  if (!found) return undefined;
  const { membership, roleScope, partnerSuspended: suspended } = found;
  return { membership, roleScope, suspended, usable: usable(found) };
}

/** The audit chain of what a member does in this tenant. */
export function ownerOf(membership: Pick<Membership, "scope" | "partnerId" | "orgId">): NonNullable<Standing["owner"]> {
  if (membership.scope === "organization") return { orgId: membership.orgId as string };
  return membership.scope === "partner" ? { partnerId: membership.partnerId as string } : {};
}
