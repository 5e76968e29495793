import type { Endpoint } from "#contract/core/endpoint";
import type { users } from "#contract/resources/people/users";
import { permissionsAboveCaller } from "#server/features/people/core/assignable-role";
import { listRoles } from "#server/features/people/core/list-roles";
import { targetOf } from "#server/features/people/core/target";
import type { Call } from "#server/http/call";

type RolesCall = typeof users.roles extends Endpoint<infer T> ? Call<T> : never;

/** What an invitation of the target accepts: roles of its scope that grant nothing the caller lacks. */
export async function listAssignableRoles(call: RolesCall) {
  const target = await targetOf(call, call.query);
  const roles = await listRoles(call, target, [target.kind]);
  const data = await call.readAsSystem("measure a role", async (all) => {
    const within: typeof roles = [];
    for (const role of roles) if ((await permissionsAboveCaller(call, all, role.id)).length === 0) within.push(role);
    return within;
  });
  return { data };
}
