import { type Expression, ExpressionWrapper, expressionBuilder } from "kysely";
import type { FilterCondition, FilterGroup } from "#contract/core/filters/condition";
import { runOnce } from "#server/db/prepared";
import type { Met } from "#server/db/tenant-predicate";
import { devicesByIndex, type Indexes, type IndexLookUp } from "./devices-by-index.ts";

interface Leaf {
  readonly at: number;
  readonly condition: FilterCondition;
}

/** Which look-ups a filter needs: one of those of `all`, or those of `any` together. */
type Plan = Leaf | { readonly all: readonly Plan[] } | { readonly any: readonly Plan[] };

/** So many indexes are asked, all by one statement. */
const ASKED_MAX = 16;

/** On SQLite, of so many devices each is found by its id sooner than each of all others is looked for among them. */
const DRIVING_MAX = 25_000;

/** Devices among which all are that satisfy a filter. */
export interface Candidates {
  /** Whether the caller reaches one of them, and the filter matches it, is for the query that reads it. */
  readonly ids?: readonly string[];
  /** SQLite, where they are more: the conditions that say which they are, unless too many rows have what these ask for. */
  driving?(): Promise<ReadonlySet<FilterCondition> | undefined>;
}

/** What indexes know of the devices of a filter: the ids of `most` at most. */
export async function candidatesFor(indexes: Indexes, filter: FilterGroup, most: number): Promise<Candidates> {
  const lookUps: IndexLookUp[] = [];
  const plan = planOf(indexes, filter, lookUps);
  if (!plan || lookUps.length > ASKED_MAX) return {};
  const texts = await asked(
    indexes,
    lookUps.map((lookUp) => lookUp.ids(most)),
    // Row-level security leaves others' rows out already.
    indexes.dialect === "postgres" ? "devices" : "key",
  );
  const sets = texts.map((text) => JSON.parse(String(text ?? "[]")) as string[]);
  const ids = chosen(plan, { sets, most });
  if (ids) return { ids: [...new Set(ids)] };
  if (indexes.dialect === "postgres") return {};
  return { driving: () => drivingFor(indexes, plan, lookUps) };
}

/** Counted are everybody's rows: what is known by it is how the caller's are read, and nothing else. */
async function drivingFor(indexes: Indexes, plan: Plan, lookUps: readonly IndexLookUp[]) {
  const counts = await asked(
    indexes,
    lookUps.map(({ count }) => count?.(DRIVING_MAX) ?? eb.lit(DRIVING_MAX + 1)),
    "devices",
  );
  const { total, conditions } = drivingOf(plan, counts.map(Number));
  return total > DRIVING_MAX ? undefined : new Set(conditions);
}

const eb = expressionBuilder<never, never>();

/** The value of each expression, by one statement; the query of the devices narrows what is found once more. */
async function asked({ db }: Indexes, each: readonly Expression<unknown>[], by: Met): Promise<unknown[]> {
  const named = each.map((one, at) => new ExpressionWrapper(one.toOperationNode()).as(`at${at}` as "at"));
  const [found] = await runOnce<Record<string, unknown>>(db, (handle) => handle.selectNoFrom(named), { by });
  return each.map((_, at) => found?.[`at${at}`]);
}

function planOf(indexes: Indexes, part: FilterGroup | FilterCondition, lookUps: IndexLookUp[]): Plan | undefined {
  if ("field" in part) {
    const lookUp = devicesByIndex(indexes, part);
    return lookUp && { at: lookUps.push(lookUp) - 1, condition: part };
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

interface Driving {
  readonly total: number;
  readonly conditions: readonly FilterCondition[];
}

/** The smallest of those of `all`, and those of `any` together. */
function drivingOf(plan: Plan, counts: readonly number[]): Driving {
  if ("at" in plan) return { total: counts[plan.at] as number, conditions: [plan.condition] };
  if ("all" in plan)
    return plan.all.map((one) => drivingOf(one, counts)).toSorted((a, b) => a.total - b.total)[0] as Driving;
  const parts = plan.any.map((one) => drivingOf(one, counts));
  return {
    total: parts.reduce((sum, part) => sum + part.total, 0),
    conditions: parts.flatMap((part) => part.conditions),
  };
}
