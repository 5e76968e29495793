import { builtInRole } from "#server/access/roles";
import { fold } from "#server/db/dialect/text";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import type { Target } from "./target.ts";

type Scope = "partner" | "organization";

/** Built-in roles of these scopes and the target's own ones, with what each grants (docs/people.md, "Roles"). */
export async function listRoles(call: Pick<Call, "db" | "readAsSystem">, target: Target, scopes: readonly Scope[]) {
  const rows = await call.db
    .selectFrom("roles")
    .leftJoin("roles as parent", "parent.id", "roles.parentRoleId")
    .select(["roles.id", "roles.scope", "roles.partnerId", "roles.orgId", "roles.name", "roles.description"])
    .select(["roles.isSystem", "roles.forceMfa", "roles.parentRoleId", "parent.name as parentRoleName"])
    .where("roles.scope", "in", scopes)
    .where((eb) => {
      const own =
        target.kind === "organization"
          ? eb("roles.orgId", "=", target.orgId)
          : eb.and([eb("roles.partnerId", "=", target.partnerId), eb("roles.orgId", "is", null)]);
      return eb.or([eb("roles.isSystem", "=", true), own]);
    })
    .orderBy("roles.isSystem", "desc")
    .orderBy("roles.scope", "desc")
    .orderBy((eb) => fold(eb.ref("roles.name")))
    .orderBy("roles.id")
    .execute();
  const custom = rows.filter((row) => !row.isSystem).map((row) => row.id);
  const granted = await call.readAsSystem("measure a role", (all) => grantsOf(all, custom));
  const members = await countMembers(call.db, target);
  return rows.map((row) => ({
    ...row,
    scope: row.scope as Scope,
    permissions: [...(builtInRole(row.id)?.grants ?? granted.get(row.id) ?? [])],
    userCount: members.get(row.id) ?? 0,
  }));
}

async function grantsOf(db: Reader, roleIds: readonly string[]): Promise<Map<string, string[]>> {
  const grants = new Map<string, string[]>(roleIds.map((id) => [id, []]));
  if (roleIds.length === 0) return grants;
  const rows = await db
    .selectFrom("rolePermissions")
    .select(["roleId", "permission"])
    .where("roleId", "in", roleIds)
    .orderBy("permission")
    .execute();
  for (const { roleId, permission } of rows) grants.get(roleId)?.push(permission);
  return grants;
}

/** Memberships and invitations by role: a partner's own, and those of its organizations. */
async function countMembers(db: Reader, target: Target): Promise<Map<string, number>> {
  const ofOrgs = db
    .selectFrom("organizationUsers")
    .select((eb) => ["roleId", eb.fn.countAll().as("members")])
    .groupBy("roleId");
  if (target.kind === "organization") return tally(await ofOrgs.where("orgId", "=", target.orgId).execute());
  const ofPartner = db
    .selectFrom("partnerUsers")
    .select((eb) => ["roleId", eb.fn.countAll().as("members")])
    .where("partnerId", "=", target.partnerId)
    .groupBy("roleId");
  const inOrgs = ofOrgs.where((eb) => {
    const own = eb.selectFrom("organizations").select("organizations.id");
    return eb("orgId", "in", own.where("organizations.partnerId", "=", target.partnerId));
  });
  return tally([...(await ofPartner.execute()), ...(await inOrgs.execute())]);
}

function tally(rows: readonly { roleId: string; members: string | number | bigint }[]): Map<string, number> {
  return new Map(rows.map(({ roleId, members }) => [roleId, Number(members)]));
}
