import type { Endpoint } from "#contract/core/endpoint";
import type { savedFilters } from "#contract/resources/fleet/saved-filters";
import type { Call } from "#server/http/call";
import { holdFilter } from "./hold.ts";

type RemoveCall = typeof savedFilters.remove extends Endpoint<infer T> ? Call<T> : never;

/** What copied its conditions keeps them. */
export async function removeFilter(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const { filter } = await holdFilter(call, tx, call.params.id);
    await tx.deleteFrom("savedFilters").where("id", "=", filter.id).execute();
    return filter;
  });
}
