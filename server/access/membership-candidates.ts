import type { Reader } from "#server/db/unit-of-work";
import { openOrganization, requiresMfa } from "./load-user.ts";

/** The membership that an access token's claims name (docs/sign-in.md, "Tenant of a session"). */
export interface Membership {
  readonly scope: "organization" | "partner" | "system";
  /** Also of an organization's member: the partner above it. */
  readonly partnerId: string | null;
  readonly orgId: string | null;
  readonly roleId: string;
  /** Role or tenant demands a second factor. */
  readonly mfaForced: boolean;
}

/** A membership with what decides whether it can be signed in with. */
export interface Candidate {
  readonly membership: Membership;
  readonly roleScope: string;
  readonly partnerOpen: boolean;
  readonly organizationOpen: boolean;
  /**
   * An active provider of the tenant enforces single sign-on. A SAML provider cannot sign anyone in and enforces
   * nothing.
   */
  readonly ssoEnforced: boolean;
}

/** An organization, or a partner itself: the partner above an organization is another tenant. */
export interface TenantOf {
  readonly orgId: string | null;
  readonly partnerId: string | null;
}

export const usable = (candidate: Candidate) => candidate.partnerOpen && candidate.organizationOpen;

export const isOf = ({ scope, orgId, partnerId }: Membership, tenant: TenantOf): boolean =>
  scope === "organization" ? orgId === tenant.orgId : tenant.orgId === null && partnerId === tenant.partnerId;

/**
 * Partners whose people may sign in; people of a pending partner are held by the partner guard
 * (docs/tenancy.md, "Partner status").
 */
const openPartner: readonly string[] = ["active", "pending"];

/** All memberships of a person in the order in which sign-in tries them. Needs an unscoped handle. */
export const candidatesOf = async (db: Reader, userId: string): Promise<Candidate[]> => [
  ...(await partnerMemberships(db, userId)),
  ...(await organizationMemberships(db, userId)),
];

async function partnerMemberships(db: Reader, userId: string): Promise<Candidate[]> {
  const rows = await db
    .selectFrom("partnerUsers")
    .innerJoin("partners", "partners.id", "partnerUsers.partnerId")
    .innerJoin("roles", "roles.id", "partnerUsers.roleId")
    .where("partnerUsers.userId", "=", userId)
    .select(["partners.id as partnerId", "partners.status", "partners.deletedAt", "partners.settings"])
    .select(["roles.id as roleId", "roles.forceMfa", "roles.scope as roleScope"])
    .orderBy("partnerUsers.createdAt")
    .orderBy("partnerUsers.id")
    .execute();
  const enforcing = await tenantsThatEnforce(
    db,
    "partnerId",
    rows.map((row) => row.partnerId),
  );
  return rows.map((row) => ({
    membership: {
      scope: "partner",
      partnerId: row.partnerId,
      orgId: null,
      roleId: row.roleId,
      mfaForced: row.forceMfa || requiresMfa(row.settings),
    },
    roleScope: row.roleScope,
    partnerOpen: row.deletedAt === null && openPartner.includes(row.status),
    organizationOpen: true,
    ssoEnforced: enforcing.has(row.partnerId),
  }));
}

async function organizationMemberships(db: Reader, userId: string): Promise<Candidate[]> {
  const rows = await db
    .selectFrom("organizationUsers")
    .innerJoin("organizations", "organizations.id", "organizationUsers.orgId")
    .innerJoin("roles", "roles.id", "organizationUsers.roleId")
    .where("organizationUsers.userId", "=", userId)
    .select(["organizations.id as orgId", "organizations.partnerId", "organizations.status"])
    .select(["organizations.deletedAt", "organizations.settings"])
    .select(["roles.id as roleId", "roles.forceMfa", "roles.scope as roleScope"])
    .orderBy("organizationUsers.createdAt")
    .orderBy("organizationUsers.id")
    .execute();
  const partners = await partnersOf(db, [...new Set(rows.map((row) => row.partnerId))]);
  const enforcing = await tenantsThatEnforce(
    db,
    "orgId",
    rows.map((row) => row.orgId),
  );
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
      roleScope: row.roleScope,
      partnerOpen: partner?.deletedAt === null && openPartner.includes(partner.status),
      organizationOpen: row.deletedAt === null && openOrganization.includes(row.status as "active"),
      ssoEnforced: enforcing.has(row.orgId),
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

async function tenantsThatEnforce(db: Reader, column: "orgId" | "partnerId", ids: string[]) {
  if (ids.length === 0) return new Set<string | null>();
  const rows = await db
    .selectFrom("ssoProviders")
    .select(column)
    .where(column, "in", ids)
    .where("type", "=", "oidc")
    .where("status", "=", "active")
    .where("enforceSso", "=", true)
    .execute();
  return new Set<string | null>(rows.map((row) => row[column]));
}
