import type { Endpoint } from "#contract/core/endpoint";
import { FILTERS_SHOWN, type savedFilters } from "#contract/resources/fleet/saved-filters";
import { getNamedOrg, orgsInList } from "#server/access/org-access";
import { withOrgNames } from "#server/access/place-names";
import { containsPattern, matches } from "#server/db/dialect/text";
import { preparedPage } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { filterColumns } from "./queries.ts";

type ListCall = typeof savedFilters.list extends Endpoint<infer T> ? Call<T> : never;

/** Those of the organizations that lists show, or of one organization; newest first. */
export async function listFilters(call: ListCall) {
  const { orgId, search } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const pattern = search ? containsPattern(search) : undefined;
  const { data, pagination } = await pageOf(call.db, { page: 1, limit: FILTERS_SHOWN }, { orgId, pattern }, null);
  return { data: await withOrgNames(call.db, data), total: pagination.total };
}

const pageOf = preparedPage((db, { orgId, pattern }: { orgId: string | undefined; pattern: string | undefined }) => {
  const query = db
    .selectFrom("savedFilters")
    .select(filterColumns)
    .where("savedFilters.orgId", "in", orgsInList(orgId))
    .orderBy("savedFilters.createdAt", "desc")
    .orderBy("savedFilters.id", "desc");
  if (pattern === undefined) return query;
  return query.where((eb) =>
    eb.or([matches(eb.ref("savedFilters.name"), pattern), matches(eb.ref("savedFilters.description"), pattern)]),
  );
});
