import type { Endpoint } from "#contract/core/endpoint";
import type { roles } from "#contract/resources/people/roles";
import { listRoles } from "#server/features/people/core/list-roles";
import { targetOf } from "#server/features/people/core/target";
import type { Call } from "#server/http/call";

type ListCall = typeof roles.list extends Endpoint<infer T> ? Call<T> : never;

/** Built-in and own ones. A partner sees those of organizations too: it gives them to its customers' people. */
export async function listTenantRoles(call: ListCall) {
  const target = await targetOf(call, call.query);
  const scopes = target.kind === "partner" ? (["partner", "organization"] as const) : (["organization"] as const);
  return { data: await listRoles(call, target, scopes) };
}
