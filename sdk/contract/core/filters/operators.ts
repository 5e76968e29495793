/** The 24 operators of a condition, and what each takes as its value (docs/filters.md, "Operators"). */
export const filterOperators = {
  equals: "scalar",
  notEquals: "scalar",
  greaterThan: "scalar",
  greaterThanOrEquals: "scalar",
  lessThan: "scalar",
  lessThanOrEquals: "scalar",
  contains: "text",
  notContains: "text",
  startsWith: "text",
  endsWith: "text",
  matches: "pattern",
  in: "list",
  notIn: "list",
  hasAny: "list",
  hasAll: "list",
  isEmpty: "none",
  isNotEmpty: "none",
  isNull: "none",
  isNotNull: "none",
  before: "scalar",
  after: "scalar",
  between: "range",
  withinLast: "span",
  notWithinLast: "span",
} as const satisfies Record<string, "scalar" | "text" | "pattern" | "list" | "none" | "range" | "span">;

export type FilterOperator = keyof typeof filterOperators;

export const spanUnits = ["minutes", "hours", "days", "weeks", "months"] as const;

const nullChecks = ["isNull", "isNotNull"] as const;
const sameness = ["equals", "notEquals"] as const;
const order = ["greaterThan", "greaterThanOrEquals", "lessThan", "lessThanOrEquals"] as const;

/** Operators that conditions on fields of a type may have (docs/filters.md, "Fields"). */
export const operatorSets = {
  string: [...sameness, "contains", "notContains", "startsWith", "endsWith", "matches", "in", "notIn", ...nullChecks],
  datetime: [...sameness, "before", "after", "between", "withinLast", "notWithinLast", ...nullChecks],
  number: [...sameness, ...order, "between", ...nullChecks],
  boolean: [...sameness, ...nullChecks],
  /** Custom fields of the type `date`. */
  date: [...sameness, ...order, "before", "after", "between", "withinLast", "notWithinLast", ...nullChecks],
  enum: [...sameness, "in", "notIn"],
  array: ["hasAny", "hasAll", "isEmpty", "isNotEmpty", "contains"],
  capability: sameness,
  id: ["equals", "in"],
  installed: ["contains", "notContains", "equals", "in", "hasAny", "hasAll"],
  notInstalled: ["contains"],
} as const satisfies Record<string, readonly FilterOperator[]>;
