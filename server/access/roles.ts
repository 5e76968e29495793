import { createHash } from "node:crypto";
import { type BuiltInRole, builtInRoles } from "#contract/core/permissions";
import type { Tx } from "#server/db/unit-of-work";

/** Built-in roles have the same id in every installation, made from their name. */
export function builtInRoleId(name: string): string {
  const hex = createHash("sha256").update(`rmm built-in role ${name}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const byId = new Map(builtInRoles.map((role) => [builtInRoleId(role.name), role]));

export const builtInRole = (id: string): BuiltInRole | undefined => byId.get(id);

/** Writes the built-in roles of the contract at every start (docs/conventions.md, "Permissions and roles"). */
export async function seedBuiltInRoles(tx: Tx, now: string): Promise<void> {
  for (const role of builtInRoles) {
    const id = builtInRoleId(role.name);
    await tx
      .insertInto("roles")
      .values({
        id,
        scope: role.scope,
        partnerId: null,
        orgId: null,
        name: role.name,
        description: null,
        isSystem: true,
        forceMfa: false,
        parentRoleId: null,
        createdAt: now,
        updatedAt: now,
      })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ name: role.name, forceMfa: false }))
      .execute();
    await tx.deleteFrom("rolePermissions").where("roleId", "=", id).execute();
    await tx
      .insertInto("rolePermissions")
      .values(role.grants.map((permission) => ({ roleId: id, permission })))
      .execute();
  }
}

/** What a role grants: its own permissions and its ancestors'. */
export async function permissionsOfRole(db: Pick<Tx, "selectFrom">, roleId: string): Promise<string[]> {
  const known = builtInRole(roleId);
  if (known) return [...known.grants];
  const granted = new Set<string>();
  const seen = new Set<string>();
  for (let id: string | null = roleId; id !== null && !seen.has(id); ) {
    seen.add(id);
    const rows = await db.selectFrom("rolePermissions").select("permission").where("roleId", "=", id).execute();
    for (const row of rows) granted.add(row.permission);
    const role = await db.selectFrom("roles").select("parentRoleId").where("id", "=", id).executeTakeFirst();
    id = role?.parentRoleId ?? null;
  }
  return [...granted].sort();
}
