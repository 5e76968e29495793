import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FilterCondition, FilterGroup } from "#contract/core/filters/condition";
import { filterFields } from "#contract/core/filters/fields";
import { condition, group, valueFor } from "../test-filters.ts";
import { parseWhere } from "./parse.ts";
import { printWhere } from "./print.ts";
import { fieldOf, operators, operatorsOf, spellings } from "./words.ts";

const runs = { numRuns: Number(process.env["WHERE_RUNS"] ?? 400) };

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
