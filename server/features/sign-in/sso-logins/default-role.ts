import { grants, type Permission } from "#contract/core/permissions";
import { permissionsOfRole } from "#server/access/roles";
import type { Reader } from "#server/db/unit-of-work";

interface Configured {
  orgId: string;
  defaultRoleId: string;
  defaultRoleConfiguredBy: string | null;
}

/**
 * Whether the person who configured the default role could still assign it: the account is active, may still configure
 * the organization and holds everything that the role grants. Asked each time an account is created
 * (docs/single-sign-on.md, "Default role"); a provider without such a person creates none.
 */
export async function isStillGrantable(db: Reader, provider: Configured): Promise<boolean> {
  const { orgId, defaultRoleId, defaultRoleConfiguredBy } = provider;
  if (defaultRoleConfiguredBy === null || !(await isRoleOf(db, orgId, defaultRoleId))) return false;
  const needed = [...(await permissionsOfRole(db, defaultRoleId)), "organizations:write"] as Permission[];
  for (const held of await holdingsIn(db, orgId, defaultRoleConfiguredBy))
    if (needed.every((permission) => grants(held, permission))) return true;
  return false;
}

async function isRoleOf(db: Reader, orgId: string, roleId: string): Promise<boolean> {
  const role = await db
    .selectFrom("roles")
    .select(["scope", "isSystem", "orgId"])
    .where("id", "=", roleId)
    .executeTakeFirst();
  return role?.scope === "organization" && (role.isSystem || role.orgId === orgId);
}

/** The permissions of a person throughout an organization, one list per membership. */
async function holdingsIn(db: Reader, orgId: string, userId: string): Promise<readonly string[][]> {
  const user = await db
    .selectFrom("users")
    .select(["status", "isPlatformAdmin"])
    .where("id", "=", userId)
    .executeTakeFirst();
  if (user?.status !== "active") return [];
  const asMember = await db
    .selectFrom("organizationUsers")
    .select(["roleId", "siteIds"])
    .where("orgId", "=", orgId)
    .where("userId", "=", userId)
    .execute();
  const asStaff = await db
    .selectFrom("partnerUsers")
    .innerJoin("organizations", "organizations.partnerId", "partnerUsers.partnerId")
    .leftJoin("partnerUserOrgs", (join) =>
      join
        .onRef("partnerUserOrgs.membershipId", "=", "partnerUsers.id")
        .onRef("partnerUserOrgs.orgId", "=", "organizations.id"),
    )
    .select(["partnerUsers.roleId", "partnerUsers.orgAccess", "partnerUserOrgs.orgId as selected"])
    .where("organizations.id", "=", orgId)
    .where("partnerUsers.userId", "=", userId)
    .execute();
  const roles = [
    // Members confined to sites cannot configure the organization (docs/conventions.md, "Site rule").
    ...asMember.filter(({ siteIds }) => siteIds === null || siteIds.length === 0),
    ...asStaff.filter(({ orgAccess, selected }) => orgAccess === "all" || (orgAccess === "selected" && selected)),
  ];
  const held = await Promise.all(roles.map(({ roleId }) => permissionsOfRole(db, roleId)));
  return user.isPlatformAdmin ? [["*:*"], ...held] : held;
}
