import type { Endpoint } from "#contract/core/endpoint";
import type { FilterGroup } from "#contract/core/filters/condition";
import type { savedFilters } from "#contract/resources/fleet/saved-filters";
import { visibleInLists } from "#server/access/org-access";
import { preparedRows } from "#server/db/prepared";
import { checkedFilter } from "#server/filters/checked-filter";
import { previewDevices } from "#server/filters/preview";
import type { Call } from "#server/http/call";
import { getFilter } from "./queries.ts";

type PreviewCall = typeof savedFilters.preview extends Endpoint<infer T> ? Call<T> : never;
type PreviewSavedCall = typeof savedFilters.previewSaved extends Endpoint<infer T> ? Call<T> : never;

/** What conditions match that nobody saved (docs/filters.md, "Previews"). */
export async function previewFilter(call: PreviewCall) {
  const { conditions, limit } = call.body;
  const { orgId } = call.query;
  return previewed(call, await checkedFilter(call.db, conditions, orgId === undefined ? {} : { orgId }), limit);
}

/** The same of a saved filter, as it stands. */
export async function previewSaved(call: PreviewSavedCall) {
  const { id, name, conditions } = await getFilter(call.db, call.params.id);
  call.audit.note({ resource: { id, name } });
  return previewed(call, conditions, call.query.limit);
}

type Previewing = PreviewCall | PreviewSavedCall;

async function previewed(call: Previewing, filter: FilterGroup, limit: number) {
  const { orgId } = call.query;
  const [data, orgCount] = await Promise.all([
    previewDevices(call as Call, filter, { orgId, limit }),
    orgId === undefined ? countOrgs(call) : 1,
  ]);
  // Told in the caller's own tenant, whatever it names: how many devices there are in all, and what the filter of one
  // organization is called, is not the business of another.
  call.audit.note({ details: { totalCount: data.totalCount, orgCount } });
  return { data };
}

async function countOrgs({ db }: Pick<Call, "db">): Promise<number> {
  return Number((await orgsOf(db, {}, null))[0]?.count ?? 0);
}

const orgsOf = preparedRows(
  (db) =>
    db
      .selectFrom("organizations")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where(visibleInLists),
  { by: "key" },
);
