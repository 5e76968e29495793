import type { Permission } from "#contract/core/permissions";
import { grants } from "#contract/core/permissions";
import { holdingsOver } from "#server/access/holdings";
import { permissionsOfRole } from "#server/access/roles";
import type { Reader } from "#server/db/unit-of-work";
import type { MembershipKey } from "#server/features/people/core/change-membership";

/** A membership of a tenant that still exists, accepted or not. */
export interface KnownMembership extends MembershipKey {
  readonly userId: string;
  readonly roleId: string;
  readonly acceptedAt: string | null;
  readonly createdAt: string;
  readonly invitedBy: string | null;
  readonly invitedName: string | null;
  readonly invitedEmail: string | null;
  readonly partnerId: string;
  /** Null: a membership of the partner itself. */
  readonly orgId: string | null;
  readonly siteIds: string[] | null;
  readonly partnerName: string;
  readonly orgName: string | null;
  readonly roleName: string;
}

interface Which {
  readonly id?: string;
  readonly userId?: string;
}

/** Memberships by their id or their person, the oldest first. Needs an unscoped handle. */
export async function findMemberships(db: Reader, which: Which): Promise<KnownMembership[]> {
  const found = [...(await ofPartners(db, which)), ...(await ofOrganizations(db, which))];
  return found.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
}

export const findMembership = async (db: Reader, id: string): Promise<KnownMembership | undefined> =>
  (await findMemberships(db, { id }))[0];

async function ofPartners(db: Reader, { id, userId }: Which): Promise<KnownMembership[]> {
  let query = db
    .selectFrom("partnerUsers as member")
    .innerJoin("partners", "partners.id", "member.partnerId")
    .innerJoin("roles", "roles.id", "member.roleId")
    .where("partners.deletedAt", "is", null)
    .select(["member.id as membershipId", "member.userId", "member.roleId", "member.acceptedAt", "member.createdAt"])
    .select(["member.invitedBy", "member.invitedName", "member.invitedEmail", "roles.name as roleName"])
    .select(["partners.id as partnerId", "partners.name as partnerName"]);
  if (id !== undefined) query = query.where("member.id", "=", id);
  if (userId !== undefined) query = query.where("member.userId", "=", userId);
  const rows = await query.execute();
  return rows.map((row) => ({ ...row, kind: "partner", orgId: null, siteIds: null, orgName: null }));
}

async function ofOrganizations(db: Reader, { id, userId }: Which): Promise<KnownMembership[]> {
  let query = db
    .selectFrom("organizationUsers as member")
    .innerJoin("organizations", "organizations.id", "member.orgId")
    .innerJoin("partners", "partners.id", "organizations.partnerId")
    .innerJoin("roles", "roles.id", "member.roleId")
    .where("organizations.deletedAt", "is", null)
    .where("partners.deletedAt", "is", null)
    .select(["member.id as membershipId", "member.userId", "member.roleId", "member.acceptedAt", "member.createdAt"])
    .select(["member.invitedBy", "member.invitedName", "member.invitedEmail", "roles.name as roleName"])
    .select(["partners.id as partnerId", "partners.name as partnerName"])
    .select(["organizations.id as orgId", "organizations.name as orgName", "member.siteIds"]);
  if (id !== undefined) query = query.where("member.id", "=", id);
  if (userId !== undefined) query = query.where("member.userId", "=", userId);
  const rows = await query.execute();
  return rows.map((row) => ({ ...row, kind: "organization" }));
}

/**
 * Whether the one who invited could still do it: an active member of the tenant, or of the partner above it, who may
 * invite and holds everything that the role grants. Unknown for invitations that are older than this rule.
 */
export async function inviterStands(db: Reader, invited: KnownMembership): Promise<boolean> {
  const { invitedBy, orgId, partnerId, siteIds } = invited;
  if (invitedBy === null) return true;
  const needed = [...(await permissionsOfRole(db, invited.roleId)), "users:invite"] as Permission[];
  const over = orgId === null ? { partnerId } : { orgId, siteIds };
  const holdings = await holdingsOver(db, invitedBy, over);
  return holdings.some((held) => needed.every((permission) => grants(held, permission)));
}

/** The audit chain of the membership's tenant. */
export const chainOf = ({ orgId, partnerId }: Pick<KnownMembership, "orgId" | "partnerId">) =>
  orgId === null ? { partnerId } : { orgId };
