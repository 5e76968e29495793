import type { Permission } from "#contract/core/permissions";
import { holds } from "#server/access/principal";
import { permissionsOfRole } from "#server/access/roles";
import type { Reader } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";

/** Whose member is to have the role. */
type RoleTarget =
  | { readonly kind: "partner"; readonly partnerId: string }
  | { readonly kind: "organization"; readonly orgId: string };

/**
 * A role that the caller may give to a member of the target: of its scope, built in or its own
 * (`INVALID_ROLE`), and granting nothing the caller does not hold (`ROLE_EXCEEDS_CALLER`).
 */
export async function getAssignableRole(db: Reader, target: RoleTarget, roleId: string) {
  const role = await db
    .selectFrom("roles")
    .select(["id", "name", "scope", "partnerId", "orgId", "isSystem"])
    .where("id", "=", roleId)
    .executeTakeFirst();
  if (!role || role.scope !== target.kind || !belongsTo(role, target)) throw problem("INVALID_ROLE");
  return role;
}

/** What the role grants and the caller does not hold. Reads grants, so it needs an unscoped handle. */
export async function permissionsAboveCaller(call: Pick<Call, "who">, db: Reader, roleId: string): Promise<string[]> {
  const granted = await permissionsOfRole(db, roleId);
  return granted.filter((permission) => !holds(user(call), permission as Permission));
}

/** Needs an unscoped handle, as `permissionsAboveCaller` does. */
export async function refuseRoleAboveCaller(call: Pick<Call, "who">, db: Reader, roleId: string): Promise<void> {
  const missing = await permissionsAboveCaller(call, db, roleId);
  if (missing.length > 0) throw problem("ROLE_EXCEEDS_CALLER", { details: { missing } });
}

function belongsTo(role: { isSystem: boolean; partnerId: string | null; orgId: string | null }, target: RoleTarget) {
  if (role.isSystem) return true;
  return target.kind === "organization" ? role.orgId === target.orgId : role.partnerId === target.partnerId;
}
