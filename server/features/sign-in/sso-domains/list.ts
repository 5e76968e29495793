import type { Endpoint } from "#contract/core/endpoint";
import type { ssoDomains } from "#contract/resources/sign-in/sso-domains";
import { getNamedOrg, orgsInList } from "#server/access/org-access";
import { withOrgNames } from "#server/access/place-names";
import type { Call } from "#server/http/call";
import { shownDomain } from "./queries.ts";

type ListCall = typeof ssoDomains.list extends Endpoint<infer T> ? Call<T> : never;

/** By name. */
export async function listDomains(call: ListCall) {
  const { orgId } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const rows = await call.db
    .selectFrom("ssoDomains")
    .selectAll()
    .where("orgId", "in", orgsInList(orgId))
    .orderBy("domain")
    .orderBy("id")
    .execute();
  return { data: await withOrgNames(call.db, rows.map(shownDomain)) };
}
