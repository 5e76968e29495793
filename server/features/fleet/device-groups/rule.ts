import { type FilterGroup, fieldsUsed } from "#contract/core/filters/condition";
import { customKeyOf } from "#contract/core/filters/fields";
import { asFleetQuery } from "#server/access/fleet-queries";
import type { AccessibleOrg } from "#server/access/org-access";
import { boundsOf } from "#server/db/read-bounds";
import type { Tx } from "#server/db/unit-of-work";
import { shareFields } from "#server/features/fleet/devices/custom-values";
import { checkedFilter } from "#server/filters/checked-filter";
import { groupsNamed } from "#server/filters/seen-groups";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { followsClock, matchesOf } from "./matching.ts";
import { FILTER_BYTES_MAX } from "./rules.ts";

/** What somebody gave a dynamic group, checked, with whom it matches now; undefined where they are many. */
export interface JudgedRule {
  readonly filter: FilterGroup;
  readonly matches: readonly string[] | undefined;
}

/** Checks the filter and looks at all devices, before anything is held; counts as a preview (docs/filters.md, "Limits"). */
export async function judgeRule(
  call: Pick<Call, "who" | "scope" | "db" | "services" | "readAsSystem">,
  place: { readonly orgId: string; readonly siteId: string | null },
  given: unknown,
): Promise<JudgedRule> {
  const filter = await checkedFilter(call.db, given, { orgId: place.orgId });
  if (Buffer.byteLength(JSON.stringify(filter)) > FILTER_BYTES_MAX)
    throw problem("LIMIT_REACHED", { details: { limit: FILTER_BYTES_MAX } });
  const matches = await asFleetQuery(call, () =>
    call.readAsSystem("keep device groups", (db) =>
      matchesOf(db as never, call.services, { ...place, filter }, boundsOf(call.scope)),
    ),
  );
  return { filter, matches };
}

/**
 * No custom field that the rule names has gone since it was judged, nor goes until the transaction ends: which fields
 * groups name, and which there are, agrees. Comes before the groups are held.
 */
export async function holdNamedFields(
  call: Pick<Call, "services">,
  tx: Tx,
  { id: orgId, partnerId }: Pick<AccessibleOrg, "id" | "partnerId">,
  { filter }: JudgedRule,
): Promise<void> {
  if (![...fieldsUsed(filter)].some((field) => customKeyOf(field) !== undefined)) return;
  await shareFields(tx, call.services, partnerId);
  await checkedFilter(tx, filter, { orgId });
}

/** What the row of a group keeps of its filter. */
export const storedRule = (filter: FilterGroup) => ({
  filterConditions: filter,
  filterFieldsUsed: [...fieldsUsed(filter)].toSorted(),
  filterGroupIds: groupsNamed(filter),
  byClock: followsClock(filter),
});
