import { describe, expect, it } from "vitest";
import { checkFilter, checkFilterInTurns, codeOfErrors } from "./check-filter.ts";
import { type FilterGroup, fieldsUsed } from "./condition.ts";
import { type CustomFieldType, filterFields } from "./fields.ts";
import { filterOperators } from "./operators.ts";

const all = (...conditions: unknown[]) => ({ operator: "AND", conditions });
const errorsOf = (value: unknown, types?: CustomFieldType[]) => {
  const checked = checkFilter(value, types ? { customTypes: () => types } : {});
  return "errors" in checked ? checked.errors : [];
};
const codeOf = (value: unknown, types?: CustomFieldType[]) => {
  const errors = errorsOf(value, types);
  return errors.length === 0 ? "fine" : codeOfErrors(errors);
};
const one = (field: string, operator: string, value?: unknown) => all({ field, operator, value });

/** Operator sets and fields, copied from where they are demanded, not from the code. */
const STR = "equals notEquals contains notContains startsWith endsWith matches in notIn isNull isNotNull";
const DT = "equals notEquals before after between withinLast notWithinLast isNull isNotNull";
const NUM = "equals notEquals greaterThan greaterThanOrEquals lessThan lessThanOrEquals between isNull isNotNull";
const specified: readonly [fields: string, operators: string][] = [
  ["hostname displayName agentVersion lastUser osVersion osBuild", STR],
  ["status deviceRole watchdogStatus osType architecture", "equals notEquals in notIn"],
  ["enrolledAt lastSeenAt quarantinedAt", DT],
  ["tags", "hasAny hasAll isEmpty isNotEmpty contains"],
  ["isHeadless", "equals notEquals isNull isNotNull"],
  ["uptimeSeconds", NUM],
  ["patches.pending alerts.critical system.rebootRequired", "equals notEquals"],
  ["hardware.manufacturer hardware.model hardware.serialNumber hardware.cpuModel hardware.gpuModel", STR],
  ["hardware.cpuCores hardware.ramTotalMb hardware.diskTotalGb", NUM],
  ["network.ipAddress network.publicIp network.macAddress lastSeenIp", STR],
  ["metrics.cpuPercent metrics.ramPercent metrics.diskPercent", NUM],
  ["software.installed", "contains notContains equals in hasAny hasAll"],
  ["software.notInstalled", "contains"],
  ["orgId siteId groupId", "equals in"],
  ["daysSinceLastSeen daysSinceEnrolled", NUM],
  ["custom.asset", STR],
];
const table = specified.flatMap(([fields, operators]) => fields.split(" ").map((field) => [field, operators] as const));

describe("the operators of fields", () => {
  it("are known of every field", () => {
    expect(table.map(([field]) => field).toSorted()).toEqual([...Object.keys(filterFields), "custom.asset"].toSorted());
  });

  it.each(table)("of %s are %s and no others", (field, operators) => {
    const taken = Object.keys(filterOperators).filter(
      (operator) => codeOf(one(field, operator), []) !== "FILTER_OPERATOR_NOT_ALLOWED",
    );
    expect(taken.toSorted()).toEqual(operators.split(" ").toSorted());
  });

  it.each([
    [["number"], "greaterThan", 5, "fine"],
    [["number"], "contains", "5", "fine"],
    [["number"], "equals", "five", "FILTER_TYPE_MISMATCH"],
    [["number", "text"], "equals", "five", "fine"],
    [["text"], "greaterThan", 5, "FILTER_OPERATOR_NOT_ALLOWED"],
    [["date"], "withinLast", { amount: 2, unit: "days" }, "fine"],
    [["date"], "greaterThan", "2026-01-31", "fine"],
    [["date"], "greaterThan", 5, "FILTER_TYPE_MISMATCH"],
    [["boolean"], "equals", "yes", "fine"],
    [[], "equals", 5, "FILTER_TYPE_MISMATCH"],
    [[], "before", "2026-01-31", "FILTER_OPERATOR_NOT_ALLOWED"],
  ] as const)("of a custom field of the types %j take %s %j: %s", (types, operator, value, code) =>
    expect(codeOf(one("custom.asset", operator, value), [...types])).toBe(code),
  );
});

describe("values", () => {
  it.each([
    ["hostname", "equals", "", "fine"],
    ["hostname", "equals", 5, "FILTER_TYPE_MISMATCH"],
    ["hostname", "equals", null, "FILTER_VALUE_REQUIRED"],
    ["hostname", "isNull", { any: "thing" }, "fine"],
    ["hostname", "contains", "x".repeat(1_000), "fine"],
    ["hostname", "contains", "x".repeat(1_001), "FILTER_TOO_LARGE"],
    ["hostname", "equals", "a\u0000", "FILTER_TYPE_MISMATCH"],
    ["hostname", "matches", "(", "FILTER_INVALID_REGEX"],
    ["hostname", "matches", "(?=a)", "FILTER_INVALID_REGEX"],
    ["hostname", "matches", "a{101}", "FILTER_INVALID_REGEX"],
    ["hostname", "matches", "x".repeat(251), "FILTER_TOO_LARGE"],
    ["hostname", "in", [], "fine"],
    ["hostname", "in", "pc", "FILTER_TYPE_MISMATCH"],
    ["hostname", "in", [5], "FILTER_TYPE_MISMATCH"],
    ["hostname", "notIn", [], "FILTER_VALUE_REQUIRED"],
    ["hostname", "in", Array(501).fill("a"), "FILTER_TOO_LARGE"],
    ["tags", "hasAny", [], "fine"],
    ["tags", "hasAll", [], "FILTER_VALUE_REQUIRED"],
    ["status", "equals", "online", "fine"],
    ["status", "equals", "Online", "FILTER_TYPE_MISMATCH"],
    ["status", "in", ["online", "broken"], "FILTER_TYPE_MISMATCH"],
    ["architecture", "equals", "x64", "fine"],
    ["uptimeSeconds", "equals", "12.5", "fine"],
    ["uptimeSeconds", "equals", "1e999", "FILTER_TYPE_MISMATCH"],
    ["uptimeSeconds", "equals", true, "FILTER_TYPE_MISMATCH"],
    ["uptimeSeconds", "between", { from: 1, to: 1 }, "fine"],
    ["uptimeSeconds", "between", { from: 2, to: 1 }, "FILTER_TYPE_MISMATCH"],
    ["uptimeSeconds", "between", { from: 2 }, "FILTER_VALUE_REQUIRED"],
    ["uptimeSeconds", "between", { from: 2, to: 3, code: 4 }, "FILTER_TYPE_MISMATCH"],
    ["isHeadless", "equals", "yes", "fine"],
    ["isHeadless", "equals", "maybe", "FILTER_TYPE_MISMATCH"],
    ["lastSeenAt", "before", "2026-02-29", "FILTER_TYPE_MISMATCH"],
    ["lastSeenAt", "before", "2026-02-28T08:00+01:00", "fine"],
    ["lastSeenAt", "between", { from: "2026-03-29", to: "2026-03-29" }, "fine"],
    ["lastSeenAt", "withinLast", { amount: 10_000, unit: "months" }, "fine"],
    ["lastSeenAt", "withinLast", { amount: 10_001, unit: "months" }, "FILTER_TYPE_MISMATCH"],
    ["lastSeenAt", "withinLast", { amount: 1.5, unit: "days" }, "FILTER_TYPE_MISMATCH"],
    ["lastSeenAt", "withinLast", { amount: 1, unit: "years" }, "FILTER_TYPE_MISMATCH"],
    ["orgId", "equals", "0190C0DE-0000-7000-8000-000000000000", "fine"],
    ["orgId", "equals", "acme", "FILTER_TYPE_MISMATCH"],
  ])("%s %s %j: %s", (field, operator, value, code) => expect(codeOf(one(field, operator, value))).toBe(code));
});

describe("structure", () => {
  const host = { field: "hostname", operator: "isNull" };

  it.each([
    [null],
    [[]],
    ["x"],
    [host],
    [{ operator: "AND", conditions: [] }],
    [{ operator: "AND" }],
    [{ operator: "NOT", conditions: [host] }],
    [{ ...all(host), extra: 1 }],
    [all({ ...host, extra: 1 })],
    [all({ ...host, conditions: [host] })],
    [all({ operator: "isNull" })],
    [all({ field: 5, operator: "isNull" })],
    [all(null)],
  ])("%j is refused", (value) => expect(codeOf(value)).toBe("FILTER_INVALID_STRUCTURE"));

  it("may be 64 groups deep and no more, and no depth overflows the stack", () => {
    const deep = (groups: number) => {
      let filter: unknown = all(host);
      for (let depth = 1; depth < groups; depth++) filter = all(filter);
      return filter;
    };
    expect([64, 65, 50_000].map((groups) => codeOf(deep(groups)))).toEqual([
      "fine",
      "FILTER_TOO_DEEP",
      "FILTER_TOO_DEEP",
    ]);
    expect(codeOf(all({ field: "hostname", operator: "equals", value: deep(50_000) }))).toBe("FILTER_TYPE_MISMATCH");
  });

  it("judges a number of any length at once", () => {
    for (const text of [`${"1".repeat(200_000)}x`, `${"1".repeat(100_000)}.${"1".repeat(100_000)}e1x`]) {
      const begun = performance.now();
      expect(codeOf(one("uptimeSeconds", "equals", text))).toBe("FILTER_TYPE_MISMATCH");
      expect(performance.now() - begun).toBeLessThan(1_000);
    }
    for (const text of ["1", "1.", ".5", "+1.5e3", "-.5E-3"])
      expect(codeOf(one("uptimeSeconds", "equals", text)), text).toBe("fine");
  });

  it("has caps on conditions, bytes and the values of its lists", () => {
    const many = (count: number, condition: object = host) => all(...Array.from({ length: count }, () => condition));
    expect(codeOf(many(1_000))).toBe("fine");
    expect(errorsOf(many(1_001))).toMatchObject([{ code: "FILTER_TOO_LARGE" }]);
    const list = (length: number) => ({ field: "hostname", operator: "in", value: Array(length).fill("a") });
    expect(codeOf(many(10, list(500)))).toBe("fine");
    expect(codeOf(many(11, list(500)))).toBe("FILTER_TOO_LARGE");
    expect(codeOf(many(300, { field: "hostname", operator: "equals", value: "x".repeat(1_000) }))).toBe(
      "FILTER_TOO_LARGE",
    );
  });

  it("says of every error where it is, and what would be right", () => {
    const filter = all(host, {
      operator: "OR",
      conditions: [
        { field: "hostnam", operator: "equals", value: "a" },
        { field: "status", operator: "equal", value: "a" },
      ],
    });
    expect(errorsOf(filter)).toEqual([
      {
        path: "conditions[1].conditions[0]",
        field: "hostnam",
        operator: "equals",
        code: "FILTER_UNKNOWN_FIELD",
        message: "there is no field hostnam (did you mean hostname?)",
      },
      {
        path: "conditions[1].conditions[1]",
        field: "status",
        operator: "equal",
        code: "FILTER_OPERATOR_NOT_ALLOWED",
        message: "status does not take equal (did you mean equals?); it takes equals, notEquals, in, notIn",
      },
    ]);
    expect(codeOf(filter)).toBe("FILTER_UNKNOWN_FIELD");
  });

  it.each(["Hostname", "custom.Key", "custom.", "custom.a-b", "__proto__", "toString"])("no field is %s", (field) =>
    expect(codeOf(one(field, "isNull"))).toBe("FILTER_UNKNOWN_FIELD"),
  );

  it("keeps what was sent, but for values that mean nothing", () => {
    const filter = all({ field: "isHeadless", operator: "equals", value: "yes" }, one("custom.a", "isNull", 5));
    expect(checkFilter(filter)).toEqual({
      filter: all(
        { field: "isHeadless", operator: "equals", value: "yes" },
        all({ field: "custom.a", operator: "isNull" }),
      ),
    });
    expect([...fieldsUsed(filter as FilterGroup)].toSorted()).toEqual(["custom.a", "isHeadless"]);
  });

  const many = Array.from({ length: 30 }, (_, index) => ({
    field: "hostname",
    operator: "matches",
    value: `^pc${index}`,
  }));
  it.each([
    ["fits", all(...many, all(...many))],
    ["does not fit", all(...many, { field: "hostname", operator: "matches", value: "(" })],
  ])("answers the same in turns, one a part: a filter that %s", async (_, filter) => {
    let turns = 0;
    const turn = async () => {
      turns += 1;
    };
    expect(await checkFilterInTurns(filter, { turn })).toEqual(checkFilter(filter));
    expect(turns).toBeGreaterThan(30);
  });
});
