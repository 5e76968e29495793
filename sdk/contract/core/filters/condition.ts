import type { FilterOperator, spanUnits } from "./operators.ts";

export type FilterScalar = string | number | boolean;

export type FilterCondition = {
  /** A name of `filterFields`, or `custom.<key>`. */
  field: string;
  operator: FilterOperator;
  /** None for checks of emptiness. */
  value?: FilterScalar | string[] | { from: string | number; to: string | number } | FilterSpan | undefined;
};

export type FilterSpan = {
  /** 1 to 10,000. */
  amount: number;
  unit: (typeof spanUnits)[number];
};

/**
 * What names a set of devices (docs/filters.md, "Structure"). The root is always a group. Aliases and not interfaces, so
 * that they fit what the SDK takes.
 */
export type FilterGroup = {
  operator: "AND" | "OR";
  conditions: (FilterGroup | FilterCondition)[];
};

/** Every condition of the filter, however deep. */
export function* conditionsOf(filter: FilterGroup): Generator<FilterCondition> {
  const waiting: (FilterGroup | FilterCondition)[] = [filter];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if ("conditions" in next) waiting.push(...next.conditions);
    else yield next;
  }
}

/** The names of the fields that a filter looks at. */
export const fieldsUsed = (filter: FilterGroup): ReadonlySet<string> =>
  new Set([...conditionsOf(filter)].map(({ field }) => field));

/** Caps of one filter. */
export const filterCaps = {
  depth: 64,
  conditions: 1_000,
  bytes: 256 * 1_024,
  listValues: 500,
  allListValues: 5_000,
  textLength: 1_000,
  patternLength: 250,
} as const;
