import type { Endpoint } from "#contract/core/endpoint";
import type { signerGroups } from "#contract/resources/access-control/signer-groups";
import { getNamedOrg, orgsInList, refuseSiteRestricted } from "#server/access/org-access";
import type { Call } from "#server/http/call";
import { groupColumns } from "./queries.ts";

type ListCall = typeof signerGroups.list extends Endpoint<infer T> ? Call<T> : never;

/** Groups are the whole organization's (docs/privileged-access.md, "Signer groups"). */
export async function listSignerGroups(call: ListCall) {
  refuseSiteRestricted(call);
  const { orgId } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const groups = call.db.selectFrom("signerGroups").select(groupColumns).where("orgId", "in", orgsInList(orgId));
  return { success: true as const, signerGroups: await groups.orderBy("nameKey").orderBy("id").execute() };
}
