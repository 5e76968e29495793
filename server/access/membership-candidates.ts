import type { Reader } from "#server/db/unit-of-work";
import { enforcingProviders, type TenantOf } from "./enforcement.ts";
import { openOrganization, requiresMfa } from "./load-user.ts";

/** The membership that an access token's claims name (docs/sign-in.md, "Tenant of a session"). */
export interface Membership {
  /** Null in system scope. */
  readonly id: string | null;
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
  readonly partnerSuspended: boolean;
  readonly organizationOpen: boolean;
  /** A provider of the tenant enforces single sign-on. */
  readonly ssoEnforced: boolean;
}

export const usable = (candidate: Candidate) => candidate.partnerOpen && candidate.organizationOpen;

export const isOf = ({ scope, orgId, partnerId }: Membership, tenant: TenantOf): boolean =>
  scope === "organization" ? orgId === tenant.orgId : tenant.orgId === null && partnerId === tenant.partnerId;

/**
 * Partners whose people may sign in; people of a pending partner are held by the partner guard
 * (docs/tenancy.md, "Partner status").
 */
const openPartner: readonly string[] = ["active", "pending"];

/**
 * All memberships that a person has accepted in the order in which sign-in tries them: the one last selected, then those
 * of partners, then those of organizations, each the first accepted first. Needs an unscoped handle.
 */
export async function candidatesOf(db: Reader, userId: string): Promise<Candidate[]> {
  const all = [...(await partnerMemberships(db, userId)), ...(await organizationMemberships(db, userId))];
  const user = await db.selectFrom("users").select("selectedMembershipId").where("id", "=", userId).executeTakeFirst();
  const isSelected = ({ membership }: Candidate) => membership.id === user?.selectedMembershipId;
  return [...all.filter(isSelected), ...all.filter((one) => !isSelected(one))];
}

async function partnerMemberships(db: Reader, userId: string): Promise<Candidate[]> {
  const rows = await db
    .selectFrom("partnerUsers")
    .innerJoin("partners", "partners.id", "partnerUsers.partnerId")
    .innerJoin("roles", "roles.id", "partnerUsers.roleId")
    .where("partnerUsers.userId", "=", userId)
    .where("partnerUsers.acceptedAt", "is not", null)
    .select("partnerUsers.id as membershipId")
    .select(["partners.id as partnerId", "partners.status", "partners.deletedAt", "partners.settings"])
    .select(["roles.id as roleId", "roles.forceMfa", "roles.scope as roleScope"])
    .orderBy("partnerUsers.acceptedAt")
    .orderBy("partnerUsers.id")
    .execute();
  const enforcing = await tenantsThatEnforce(
    db,
    "partnerId",
    rows.map((row) => row.partnerId),
  );
  return rows.map((row) => ({
    membership: {
      id: row.membershipId,
      scope: "partner",
      partnerId: row.partnerId,
      orgId: null,
      roleId: row.roleId,
      mfaForced: row.forceMfa || requiresMfa(row.settings),
    },
    roleScope: row.roleScope,
    partnerOpen: row.deletedAt === null && openPartner.includes(row.status),
    partnerSuspended: row.deletedAt === null && row.status === "suspended",
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
    .where("organizationUsers.acceptedAt", "is not", null)
    .select("organizationUsers.id as membershipId")
    .select(["organizations.id as orgId", "organizations.partnerId", "organizations.status"])
    .select(["organizations.deletedAt", "organizations.settings"])
    .select(["roles.id as roleId", "roles.forceMfa", "roles.scope as roleScope"])
    .orderBy("organizationUsers.acceptedAt")
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
        id: row.membershipId,
        scope: "organization",
        partnerId: row.partnerId,
        orgId: row.orgId,
        roleId: row.roleId,
        mfaForced: row.forceMfa || requiresMfa(row.settings) || requiresMfa(partner?.settings ?? null),
      },
      roleScope: row.roleScope,
      partnerOpen: partner?.deletedAt === null && openPartner.includes(partner.status),
      partnerSuspended: partner?.deletedAt === null && partner.status === "suspended",
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
  const rows = await enforcingProviders(db).select(column).where(column, "in", ids).execute();
  return new Set<string | null>(rows.map((row) => row[column]));
}
