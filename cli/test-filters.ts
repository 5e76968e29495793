import fc from "fast-check";
import type { FilterCondition, FilterGroup } from "#contract/core/filters/condition";
import { filterFields } from "#contract/core/filters/fields";
import { type FilterOperator, filterOperators, spanUnits } from "#contract/core/filters/operators";
import { fieldOf, operatorsOf, type WhereField } from "./where/words.ts";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(
    "and",
    "OR",
    "true",
    "-12",
    "5e3",
    "it's",
    'say "no"',
    "a\\d",
    "\u202e",
    "日本",
    "",
    " ",
    "a b",
    "[x]",
    "in",
  ),
);
const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
const numeric = fc.oneof(number, number.map(String));
const time = fc.oneof(
  fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom("2026-01-31", "2026-03-29T02:30:00+02:00"),
);
const uuid = fc.uuid();

function scalarFor({ type, values = [] }: WhereField): fc.Arbitrary<string | number | boolean> {
  if (type === "number") return numeric;
  if (type === "boolean" || type === "capability") return fc.constantFrom(true, false, "true", "yes", "no");
  if (type === "enum") return fc.constantFrom(...values);
  if (type === "datetime") return time;
  if (type === "id") return uuid;
  return type === "custom" ? fc.oneof(text, numeric, fc.boolean(), time) : text;
}

/** Every value that the operator takes on the field. */
export function valueFor(field: WhereField, operator: FilterOperator): fc.Arbitrary<FilterCondition["value"]> {
  const least = operator === "notIn" || operator === "hasAll" ? 1 : 0;
  switch (filterOperators[operator]) {
    case "none":
      return fc.constant(undefined);
    case "scalar":
      return scalarFor(field);
    case "text":
    case "pattern":
      return text;
    case "list":
      return fc.array(field.type === "custom" ? text : (scalarFor(field) as fc.Arbitrary<string>), {
        minLength: least,
        maxLength: 4,
      });
    case "range":
      return field.type === "number"
        ? fc.tuple(numeric, numeric).map(([a, b]) => (Number(a) > Number(b) ? { from: b, to: a } : { from: a, to: b }))
        : fc.record({ from: time, to: time });
    case "span":
      return fc.record({ amount: fc.integer({ min: 1, max: 10_000 }), unit: fc.constantFrom(...spanUnits) });
  }
}

/** Every condition that is valid. */
export const condition = fc.constantFrom(...Object.keys(filterFields), "custom.rack_unit").chain((name) => {
  const field = fieldOf(name)!;
  return fc
    .constantFrom(...operatorsOf(field))
    .chain((operator) =>
      valueFor(field, operator).map(
        (value): FilterCondition => ({ field: name, operator, ...(value === undefined ? {} : { value }) }),
      ),
    );
});

/** Every filter that is valid, however its groups stand in each other. */
export const { group } = fc.letrec<{ group: FilterGroup; part: FilterGroup | FilterCondition }>((tie) => ({
  part: fc.oneof({ depthSize: "small", withCrossShrink: true }, condition, tie("group")),
  group: fc.record({
    operator: fc.constantFrom("AND", "OR"),
    conditions: fc.array(tie("part"), { minLength: 1, maxLength: 4 }),
  }),
}));
