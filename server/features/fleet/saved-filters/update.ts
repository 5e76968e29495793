import type { Endpoint } from "#contract/core/endpoint";
import type { savedFilters } from "#contract/resources/fleet/saved-filters";
import { changedFields } from "#server/audit/changed-fields";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { holdFilter } from "./hold.ts";
import { judgeConditions } from "./judge.ts";
import { getFilter } from "./queries.ts";

type UpdateCall = typeof savedFilters.update extends Endpoint<infer T> ? Call<T> : never;

/** Omitted fields keep their values (docs/filters.md, "Saved filters"). */
export async function updateFilter(call: UpdateCall) {
  const { conditions, ...fields } = call.body;
  return call.transaction(async (tx) => {
    const { filter, org } = await holdFilter(call, tx, call.params.id);
    if (Object.values(call.body).every((value) => value === undefined)) throw problem("NO_UPDATES");
    const place = { orgId: org.id, partnerId: org.partnerId };
    const judged = conditions === undefined ? {} : await judgeConditions(call, tx, conditions, place);
    await tx
      .updateTable("savedFilters")
      .set({ ...fields, ...judged, updatedAt: call.clock.now() })
      .where("id", "=", filter.id)
      .execute();
    const after = await getFilter(tx, filter.id);
    const { name, description } = after;
    call.audit.note({
      details: { changedFields: changedFields(filter, { name, description, conditions: after.conditions }) },
    });
    return after;
  });
}
