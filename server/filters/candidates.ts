import type { FilterCondition, FilterGroup } from "#contract/core/filters/condition";
import { runOnce } from "#server/db/prepared";
import { devicesByIndex, type Indexes, type IndexLookUp } from "./devices-by-index.ts";

/** Which look-ups a filter needs: one of those of `all`, or those of `any` together. */
type Plan = { readonly at: number } | { readonly all: readonly Plan[] } | { readonly any: readonly Plan[] };

/** So many indexes are asked, all by one statement. */
const ASKED_MAX = 16;

/**
 * Ids among which those of all devices are that satisfy the filter, `most` at most; undefined where indexes know no fewer.
 * They are candidates: whether the caller reaches a device, and the filter matches it, is for the query that reads it.
 */
export async function candidatesFor(
  indexes: Indexes,
  filter: FilterGroup,
  most: number,
): Promise<readonly string[] | undefined> {
  const lookUps: IndexLookUp[] = [];
  const plan = planOf(indexes, filter, lookUps);
  if (!plan || lookUps.length > ASKED_MAX) return undefined;
  const [found] = await runOnce<Record<string, unknown>>(
    indexes.db,
    (db) => db.selectNoFrom(lookUps.map((lookUp, at) => lookUp(most).as(`at${at}` as "at"))),
    // Row-level security leaves others' rows out already, and the query of the devices asks again.
    { by: indexes.dialect === "postgres" ? "devices" : "key" },
  );
  const sets = lookUps.map((_, at) => JSON.parse(String(found?.[`at${at}`] ?? "[]")) as string[]);
  const ids = chosen(plan, { sets, most });
  return ids && [...new Set(ids)];
}

function planOf(indexes: Indexes, part: FilterGroup | FilterCondition, lookUps: IndexLookUp[]): Plan | undefined {
  if ("field" in part) {
    const lookUp = devicesByIndex(indexes, part);
    return lookUp && { at: lookUps.push(lookUp) - 1 };
  }
  const plans = part.conditions.map((one) => planOf(indexes, one, lookUps));
  const known = plans.filter((plan) => plan !== undefined);
  if (part.operator === "AND") return known.length === 0 ? undefined : { all: known };
  return known.length < plans.length ? undefined : { any: known };
}

interface Found {
  readonly sets: readonly (readonly string[])[];
  readonly most: number;
}

function chosen(plan: Plan, found: Found): readonly string[] | undefined {
  if ("at" in plan) {
    const ids = found.sets[plan.at] as readonly string[];
    return ids.length > found.most ? undefined : ids;
  }
  if ("any" in plan) {
    const parts = plan.any.map((one) => chosen(one, found));
    const ids = parts.flatMap((part) => part ?? []);
    return parts.includes(undefined) || ids.length > found.most ? undefined : ids;
  }
  const parts = plan.all.map((one) => chosen(one, found)).filter((ids) => ids !== undefined);
  return parts.toSorted((a, b) => a.length - b.length)[0];
}
