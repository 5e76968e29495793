import type { Endpoint } from "#contract/core/endpoint";
import type { servicePrincipals } from "#contract/resources/credentials/service-principals";
import { getNamedOrg, orgsInList } from "#server/access/org-access";
import { withOrgNames } from "#server/access/place-names";
import { preparedPage } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { servicePrincipalColumns, withCurrentKeys } from "./queries.ts";

type ListCall = typeof servicePrincipals.list extends Endpoint<infer T> ? Call<T> : never;

/** Newest first. */
export async function listServicePrincipals(call: ListCall) {
  const { orgId, status } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const page = await pageOf(call.db, call.query, { orgId, status }, null);
  return { ...page, data: await withOrgNames(call.db, await withCurrentKeys(call, call.db, page.data)) };
}

type Asked = { orgId: string | undefined; status: ListCall["query"]["status"] };

const pageOf = preparedPage((db, { orgId, status }: Asked) => {
  let query = db
    .selectFrom("servicePrincipals")
    .select(servicePrincipalColumns)
    .where("servicePrincipals.orgId", "in", orgsInList(orgId));
  if (status !== undefined) query = query.where("servicePrincipals.status", "=", status);
  return query.orderBy("servicePrincipals.createdAt", "desc").orderBy("servicePrincipals.id", "desc");
});
