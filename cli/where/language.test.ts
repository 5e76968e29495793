import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FilterCondition, FilterGroup } from "#contract/core/filters/condition";
import { filterFields } from "#contract/core/filters/fields";
import { type FilterOperator, filterOperators, spanUnits } from "#contract/core/filters/operators";
import { parseWhere } from "./parse.ts";
import { printWhere } from "./print.ts";
import { fieldOf, operators, operatorsOf, spellings, type WhereField } from "./words.ts";

const runs = { numRuns: Number(process.env["WHERE_RUNS"] ?? 400) };

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

function valueFor(field: WhereField, operator: FilterOperator): fc.Arbitrary<FilterCondition["value"]> {
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

const condition = fc.constantFrom(...Object.keys(filterFields), "custom.rack_unit").chain((name) => {
  const field = fieldOf(name)!;
  return fc
    .constantFrom(...operatorsOf(field))
    .chain((operator) =>
      valueFor(field, operator).map(
        (value): FilterCondition => ({ field: name, operator, ...(value === undefined ? {} : { value }) }),
      ),
    );
});

const { group } = fc.letrec<{ group: FilterGroup; part: FilterGroup | FilterCondition }>((tie) => ({
  part: fc.oneof({ depthSize: "small", withCrossShrink: true }, condition, tie("group")),
  group: fc.record({
    operator: fc.constantFrom("AND", "OR"),
    conditions: fc.array(tie("part"), { minLength: 1, maxLength: 4 }),
  }),
}));

describe("round trip", () => {
  it("what is printed is read as the same filter, and printed the same again", () => {
    fc.assert(
      fc.property(group, (filter) => {
        const printed = printWhere(filter);
        expect(parseWhere(printed).filter).toEqual(filter);
        expect(printWhere(parseWhere(printed).filter)).toBe(printed);
      }),
      runs,
    );
  });

  it("shows nothing that moves a terminal, and nothing that nobody sees", () => {
    fc.assert(
      fc.property(group, (filter) => {
        expect(printWhere(filter)).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u);
      }),
      runs,
    );
  });

  it("generates every operator", () => {
    const used = new Set(fc.sample(condition, 3_000).map(({ operator }) => operator));
    expect(operators.filter((one) => !used.has(one))).toEqual([]);
  });
});

const read = (source: string): FilterGroup => parseWhere(source).filter;

describe("an expression", () => {
  it("is read as the example of the manual says", () => {
    const source =
      "osType = windows and (tags any [prod, web] or software.installed contains 'Chrome') and lastSeenAt within 7 days";
    expect(read(source)).toEqual({
      operator: "AND",
      conditions: [
        { field: "osType", operator: "equals", value: "windows" },
        {
          operator: "OR",
          conditions: [
            { field: "tags", operator: "hasAny", value: ["prod", "web"] },
            { field: "software.installed", operator: "contains", value: "Chrome" },
          ],
        },
        { field: "lastSeenAt", operator: "withinLast", value: { amount: 7, unit: "days" } },
      ],
    });
    expect(printWhere(read(source))).toBe(source.replace("'Chrome'", "Chrome"));
  });

  it("binds and tighter than or", () => {
    const [a, b, c] = ["online", "offline", "pending"].map((value) => ({ field: "status", operator: "equals", value }));
    expect(read("status = online and status = offline or status = pending")).toEqual({
      operator: "OR",
      conditions: [{ operator: "AND", conditions: [a, b] }, c],
    });
    expect(read("status = online and (status = offline or status = pending)")).toEqual({
      operator: "AND",
      conditions: [a, { operator: "OR", conditions: [b, c] }],
    });
  });

  it("may have parentheses that change nothing, and groups of one by a word in front", () => {
    const one = { field: "isHeadless", operator: "equals", value: true };
    expect(read("((isHeadless = true))")).toEqual({ operator: "AND", conditions: [one] });
    expect(read("(or isHeadless=yes)")).toEqual({ operator: "OR", conditions: [one] });
    expect(read("(and (or isHeadless = true))")).toEqual({
      operator: "AND",
      conditions: [{ operator: "OR", conditions: [one] }],
    });
  });

  it.each(operators)("knows %s in each of its spellings and by its own name, in any case", (operator) => {
    const name = [...Object.keys(filterFields), "custom.a"].find((one) =>
      operatorsOf(fieldOf(one)!).includes(operator),
    )!;
    const [value] = fc.sample(valueFor(fieldOf(name)!, operator), { numRuns: 1, seed: 7 });
    const filter: FilterGroup = {
      operator: "AND",
      conditions: [{ field: name, operator, ...(value === undefined ? {} : { value }) }],
    };
    const printed = printWhere(filter);
    const said = spellings[operator][0];
    expect(printed.startsWith(`${name} ${said}`)).toBe(true);
    for (const other of [...spellings[operator], operator, operator.toUpperCase()])
      expect(read(printed.replace(`${name} ${said}`, `${name} ${other}`))).toEqual(filter);
  });

  it("takes texts between single quotes as they are, and JSON's escapes between double quotes", () => {
    const values = {
      "'^srv-\\d+$'": "^srv-\\d+$",
      "'O''Brien'": "O'Brien",
      '"a\\u00e9\\"\\n"': 'aé"\n',
      "Über-PC": "Über-PC",
    };
    for (const [source, value] of Object.entries(values))
      expect(read(`hostname = ${source}`).conditions).toEqual([{ field: "hostname", operator: "equals", value }]);
  });

  it("reads values as their fields hold them, and in quotes as texts", () => {
    const value = (source: string) => (read(source).conditions[0] as FilterCondition).value;
    expect(value("osBuild = 19045")).toBe("19045");
    expect(value("hardware.cpuCores >= 8")).toBe(8);
    expect(value("hardware.cpuCores >= '8'")).toBe("8");
    expect(value("custom.rack = 12")).toBe(12);
    expect(value("custom.rack = '12'")).toBe("12");
    expect(value("custom.rack in [12, 13]")).toEqual(["12", "13"]);
    expect(value("patches.pending = yes")).toBe(true);
    expect(value("lastSeenAt not within 1 day")).toEqual({ amount: 1, unit: "days" });
    expect(value("enrolledAt between 2026-01-01 and 2026-02-01")).toEqual({ from: "2026-01-01", to: "2026-02-01" });
  });
});
