import { grants, type Permission } from "#contract/core/permissions";
import type { Reader } from "#server/db/unit-of-work";
import { permissionsOfRole } from "./roles.ts";

/** An organization with the sites in question (null = all), or a partner itself. */
export type Over =
  | { readonly orgId: string; readonly siteIds: readonly string[] | null }
  | { readonly partnerId: string };

/** A membership of an active person that reaches a tenant. */
interface Member {
  readonly userId: string;
  readonly roleId: string;
  /** Of the partner, not of the organization. */
  readonly asStaff: boolean;
}

/**
 * The permissions that a person holds now over a tenant, one list per membership that they accepted; none unless they
 * are active. Needs an unscoped handle.
 */
export async function holdingsOver(db: Reader, userId: string, over: Over): Promise<readonly string[][]> {
  const user = await db
    .selectFrom("users")
    .select(["status", "isPlatformAdmin"])
    .where("id", "=", userId)
    .executeTakeFirst();
  if (user?.status !== "active") return [];
  const members = await membersOver(db, over, userId);
  const held = await Promise.all(members.map(({ roleId }) => permissionsOfRole(db, roleId)));
  return user.isPlatformAdmin ? [["*:*"], ...held] : held;
}

/** The members of `membersOver` whose role grants a permission. Needs an unscoped handle. */
export async function holdersOver(db: Reader, over: Over, permission: Permission): Promise<Member[]> {
  const members = await membersOver(db, over);
  const granting = new Set<string>();
  for (const roleId of new Set(members.map((member) => member.roleId)))
    if (grants(await permissionsOfRole(db, roleId), permission)) granting.add(roleId);
  return members.filter(({ roleId }) => granting.has(roleId));
}

/** Accepted memberships of active people, or of one of them, that reach a tenant now. Needs an unscoped handle. */
export async function membersOver(db: Reader, over: Over, userId?: string): Promise<Member[]> {
  return "orgId" in over ? overOrganization(db, over, userId) : overPartner(db, over, userId);
}

async function overPartner(db: Reader, { partnerId }: { partnerId: string }, userId?: string): Promise<Member[]> {
  const rows = await db
    .selectFrom("partnerUsers")
    .innerJoin("users", "users.id", "partnerUsers.userId")
    .select(["partnerUsers.userId", "partnerUsers.roleId"])
    .where("partnerUsers.partnerId", "=", partnerId)
    .where("partnerUsers.acceptedAt", "is not", null)
    .where("partnerUsers.orgAccess", "=", "all")
    .where("users.status", "=", "active")
    .$if(userId !== undefined, (query) => query.where("users.id", "=", userId as string))
    .execute();
  return rows.map((row) => ({ ...row, asStaff: true }));
}

async function overOrganization(
  db: Reader,
  { orgId, siteIds }: { orgId: string; siteIds: readonly string[] | null },
  userId?: string,
): Promise<Member[]> {
  const asMember = await db
    .selectFrom("organizationUsers")
    .innerJoin("users", "users.id", "organizationUsers.userId")
    .select(["organizationUsers.userId", "organizationUsers.roleId", "organizationUsers.siteIds"])
    .where("organizationUsers.orgId", "=", orgId)
    .where("organizationUsers.acceptedAt", "is not", null)
    .where("users.status", "=", "active")
    .$if(userId !== undefined, (query) => query.where("users.id", "=", userId as string))
    .execute();
  const asStaff = await db
    .selectFrom("partnerUsers")
    .innerJoin("users", "users.id", "partnerUsers.userId")
    .innerJoin("organizations", "organizations.partnerId", "partnerUsers.partnerId")
    .leftJoin("partnerUserOrgs", (join) =>
      join
        .onRef("partnerUserOrgs.membershipId", "=", "partnerUsers.id")
        .onRef("partnerUserOrgs.orgId", "=", "organizations.id"),
    )
    .select(["partnerUsers.userId", "partnerUsers.roleId", "partnerUsers.orgAccess"])
    .select("partnerUserOrgs.orgId as selected")
    .where("organizations.id", "=", orgId)
    .where("partnerUsers.acceptedAt", "is not", null)
    .where("users.status", "=", "active")
    .$if(userId !== undefined, (query) => query.where("users.id", "=", userId as string))
    .execute();
  // Members confined to sites hold nothing outside them (docs/conventions.md, "Site rule").
  const within = (own: readonly string[] | null) =>
    !own?.length || (siteIds?.length ? siteIds.every((id) => own.includes(id)) : false);
  return [
    ...asMember.filter((row) => within(row.siteIds)).map((row) => ({ ...row, asStaff: false })),
    ...asStaff
      .filter(({ orgAccess, selected }) => orgAccess === "all" || (orgAccess === "selected" && selected))
      .map((row) => ({ ...row, asStaff: true })),
  ];
}
