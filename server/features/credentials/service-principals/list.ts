import type { Endpoint } from "#contract/core/endpoint";
import type { servicePrincipals } from "#contract/resources/credentials/service-principals";
import { listedOrgs } from "#server/access/org-access";
import { withOrgNames } from "#server/access/place-names";
import { paginate } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { servicePrincipalColumns, withCurrentKeys } from "./queries.ts";

type ListCall = typeof servicePrincipals.list extends Endpoint<infer T> ? Call<T> : never;

/** Newest first. */
export async function listServicePrincipals(call: ListCall) {
  const { orgId, status } = call.query;
  const orgs = await listedOrgs(call, orgId);
  let query = call.db
    .selectFrom("servicePrincipals")
    .select(servicePrincipalColumns)
    .where("servicePrincipals.orgId", "in", orgs);
  if (status !== undefined) query = query.where("servicePrincipals.status", "=", status);
  const page = await paginate(
    query.orderBy("servicePrincipals.createdAt", "desc").orderBy("servicePrincipals.id", "desc"),
    call.query,
  );
  return { ...page, data: await withOrgNames(call.db, await withCurrentKeys(call, call.db, page.data)) };
}
