import { grants, type Permission } from "#contract/core/permissions";
import { holdingsOver } from "#server/access/holdings";
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
  for (const held of await holdingsOver(db, defaultRoleConfiguredBy, { orgId, siteIds: null }))
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
