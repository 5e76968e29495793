import type { Endpoint } from "#contract/core/endpoint";
import type { pamConfig } from "#contract/resources/access-control/pam-config";
import { orgByRule } from "#server/access/org-access";
import type { Call } from "#server/http/call";

type GetCall = typeof pamConfig.get extends Endpoint<infer T> ? Call<T> : never;

/** Without a row people decide (docs/privileged-access.md, "The decision chain"). */
export async function getConfig(call: GetCall) {
  const { id: orgId } = await orgByRule(call, call.query.orgId);
  const row = await call.db.selectFrom("pamConfigs").selectAll().where("orgId", "=", orgId).executeTakeFirst();
  const defaultUnmatchedVerdict = row?.defaultUnmatchedVerdict ?? ("require_approval" as const);
  return { success: true as const, config: { orgId, defaultUnmatchedVerdict } };
}
