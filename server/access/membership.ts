import type { Reader } from "#server/db/unit-of-work";
import { openOrganization, requiresMfa } from "./load-user.ts";
import { builtInRoleId } from "./roles.ts";

/** What a user signs in as: the membership that an access token's claims name (contract 1 A2). */
export interface Membership {
  readonly scope: "organization" | "partner" | "system";
  /** Also of an organization's member: the partner above it. */
  readonly partnerId: string | null;
  readonly orgId: string | null;
  readonly roleId: string;
  /** Role or tenant demands a second factor. */
  readonly mfaForced: boolean;
}

/** Where a user stands, whether or not it may sign in. */
export interface Standing {
  /** Undefined = nothing to sign in as. */
  readonly membership: Membership | undefined;
  /** Chain of entries about this user, refused sign-ins included; undefined = of no tenant at all. */
  readonly owner: { readonly orgId?: string; readonly partnerId?: string } | undefined;
  readonly refusal: "partner_inactive" | "organization_inactive" | "no_membership" | undefined;
}

/** Partners whose people may sign in; the partner guard holds those of a pending one (contract 1 A2, B). */
const openPartner: readonly string[] = ["active", "pending"];

/**
 * Selects the membership of a user (contract 1 A2): the installation's for platform administrators, else
 * the oldest usable one of a partner, else the oldest of an active or trial organization. Memberships of
 * tenants that are closed are passed over, so that one suspended tenant does not lock a shared person out
 * of the others.
 */
export async function standingOf(db: Reader, user: { id: string; isPlatformAdmin: boolean }): Promise<Standing> {
  if (user.isPlatformAdmin) {
    const roleId = builtInRoleId("System Admin");
    const membership = { scope: "system", partnerId: null, orgId: null, roleId, mfaForced: false } as const;
    return { membership, owner: {}, refusal: undefined };
  }
  const asPartner = await partnerMemberships(db, user.id);
  const asOrganization = await organizationMemberships(db, user.id);
  const [partner] = asPartner.filter(usable);
  const [organization] = asOrganization.filter(usable);
  const membership = partner ? partner.membership : organization?.membership;
  if (membership) return { membership, owner: ownerOf(membership), refusal: undefined };
  const closed = asPartner[0] ?? asOrganization[0];
  if (!closed) return { membership: undefined, owner: undefined, refusal: "no_membership" };
  return {
    membership: undefined,
    owner: ownerOf(closed.membership),
    refusal: closed.partnerOpen ? "organization_inactive" : "partner_inactive",
  };
}

/** The chain of what a member does in this tenant. */
export function ownerOf(membership: Pick<Membership, "scope" | "partnerId" | "orgId">): NonNullable<Standing["owner"]> {
  if (membership.scope === "organization") return { orgId: membership.orgId as string };
  return membership.scope === "partner" ? { partnerId: membership.partnerId as string } : {};
}

interface Candidate {
  membership: Membership;
  partnerOpen: boolean;
  organizationOpen: boolean;
}

const usable = (candidate: Candidate) => candidate.partnerOpen && candidate.organizationOpen;

async function partnerMemberships(db: Reader, userId: string): Promise<Candidate[]> {
  const rows = await db
    .selectFrom("partnerUsers")
    .innerJoin("partners", "partners.id", "partnerUsers.partnerId")
    .innerJoin("roles", "roles.id", "partnerUsers.roleId")
    .where("partnerUsers.userId", "=", userId)
    .select(["partners.id as partnerId", "partners.status", "partners.deletedAt", "partners.settings"])
    .select(["roles.id as roleId", "roles.forceMfa"])
    .orderBy("partnerUsers.createdAt")
    .orderBy("partnerUsers.id")
    .execute();
  return rows.map((row) => ({
    membership: {
      scope: "partner",
      partnerId: row.partnerId,
      orgId: null,
      roleId: row.roleId,
      mfaForced: row.forceMfa || requiresMfa(row.settings),
    },
    partnerOpen: row.deletedAt === null && openPartner.includes(row.status),
    organizationOpen: true,
  }));
}

async function organizationMemberships(db: Reader, userId: string): Promise<Candidate[]> {
  const rows = await db
    .selectFrom("organizationUsers")
    .innerJoin("organizations", "organizations.id", "organizationUsers.orgId")
    .innerJoin("roles", "roles.id", "organizationUsers.roleId")
    .where("organizationUsers.userId", "=", userId)
    .select(["organizations.id as orgId", "organizations.partnerId", "organizations.status"])
    .select(["organizations.deletedAt", "organizations.settings", "roles.id as roleId", "roles.forceMfa"])
    .orderBy("organizationUsers.createdAt")
    .orderBy("organizationUsers.id")
    .execute();
  const partners = await partnersOf(db, [...new Set(rows.map((row) => row.partnerId))]);
  return rows.map((row) => {
    const partner = partners.get(row.partnerId);
    return {
      membership: {
        scope: "organization",
        partnerId: row.partnerId,
        orgId: row.orgId,
        roleId: row.roleId,
        mfaForced: row.forceMfa || requiresMfa(row.settings) || requiresMfa(partner?.settings ?? null),
      },
      partnerOpen: partner?.deletedAt === null && openPartner.includes(partner.status),
      organizationOpen: row.deletedAt === null && openOrganization.includes(row.status as "active"),
    };
  });
}

async function partnersOf(db: Reader, ids: string[]) {
  if (ids.length === 0) return new Map<string, never>();
  const rows = await db
    .selectFrom("partners")
    .select(["id", "status", "deletedAt", "settings"])
    .where("id", "in", ids)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}
