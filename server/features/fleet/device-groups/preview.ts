import type { Endpoint } from "#contract/core/endpoint";
import type { FilterGroup } from "#contract/core/filters/condition";
import type { deviceGroups } from "#contract/resources/fleet/device-groups";
import { checkedFilter } from "#server/filters/checked-filter";
import { previewDevices } from "#server/filters/preview";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { getGroup } from "./queries.ts";

type PreviewCall = typeof deviceGroups.preview extends Endpoint<infer T> ? Call<T> : never;

/** Whom the group's filter matches now, or would with another one; pins have no part in it (docs/device-groups.md, "Dynamic groups"). */
export async function previewGroup(call: PreviewCall) {
  const { orgId, siteId, type, filterConditions } = await getGroup(call, call.db, call.params.id);
  if (type !== "dynamic") throw problem("NOT_DYNAMIC");
  const given = call.body.filterConditions;
  const filter =
    given === undefined ? (filterConditions as FilterGroup) : await checkedFilter(call.db, given, { orgId });
  const data = await previewDevices(call, within(filter, siteId), { orgId, limit: call.query.limit });
  return { data };
}

/** What a group never holds: devices that are out of service, and of a site's group those of other sites. */
const within = (filter: FilterGroup, siteId: string | null): FilterGroup => ({
  operator: "AND",
  conditions: [
    filter,
    { field: "status", operator: "notEquals", value: "decommissioned" },
    ...(siteId === null ? [] : [{ field: "siteId", operator: "equals" as const, value: siteId }]),
  ],
});
