import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Definition, definitionIssues, type FieldRules, judge } from "./rules.ts";

const rules = (type: FieldRules["type"], options: FieldRules["options"] = null): FieldRules => ({ type, options });
const anything = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constantFrom("yes", "12", "2026-02-28", "A"));
const every = fc.constantFrom<FieldRules>(
  rules("text", { minLength: 1, maxLength: 5, pattern: "[a-z0-9]*" }),
  rules("number", { min: -10, max: 10 }),
  rules("boolean"),
  rules("date"),
  rules("dropdown", { choices: [{ label: "Letter", value: "A" }] }),
);

describe("values of custom fields", () => {
  it("that were taken are taken again as they are stored", () => {
    fc.assert(
      fc.property(every, anything, (field, given) => {
        const once = judge(field, given);
        if ("value" in once) expect(judge(field, once.value)).toEqual(once);
      }),
    );
  });

  it("are stored in the type of their field", () => {
    const types = { text: "string", number: "number", boolean: "boolean", date: "string", dropdown: "string" };
    fc.assert(
      fc.property(every, anything, (field, given) => {
        const read = judge(field, given);
        if ("value" in read) expect(typeof read.value).toBe(types[field.type]);
      }),
    );
  });

  it("of numbers are what they say within their bounds, and nothing else is", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        // A negative zero is stored as zero.
        const value = number + 0;
        const [asNumber, asText] = [value, String(value)].map((given) => judge(rules("number", { min: 0 }), given));
        expect("value" in (asNumber as object)).toBe(value >= 0);
        expect(asText).toEqual(asNumber);
      }),
    );
    for (const given of ["", " ", "0x10", "1e999", "Infinity", "1_000", true, Number.NaN])
      expect(judge(rules("number"), given)).toEqual({ reason: "must be a number" });
  });

  it.each([
    ["2026-02-28", "2026-02-28"],
    ["2026-02-28T10:00:00+02:00", "2026-02-28T08:00:00.000Z"],
    ["2026-02-28T10:00", "2026-02-28T10:00:00.000Z"],
    ["2026-02-30", undefined],
    ["yesterday", undefined],
  ])("of dates: %s", (given, kept) => {
    expect(judge(rules("date"), given)).toEqual(
      kept ? { value: kept } : { reason: "must be a date (YYYY-MM-DD) or a date and time" },
    );
  });

  it("of texts are measured in characters, and matched as a whole", () => {
    expect(judge(rules("text", { maxLength: 2 }), "😀😀")).toEqual({ value: "😀😀" });
    expect(judge(rules("text", { pattern: "a|b" }), "ab")).toEqual({ reason: "must match a|b" });
    expect(judge(rules("text"), 5)).toEqual({ reason: "must be a text" });
  });
});

describe("definitions of custom fields", () => {
  const plain: Definition = { type: "text", options: null, defaultValue: null };
  it.each<[Partial<Definition>, string[]]>([
    [{}, []],
    [{ type: "dropdown" }, ["options.choices"]],
    [{ options: { choices: [{ label: "A", value: "A" }] } }, ["options.choices"]],
    [{ type: "number", options: { min: 2, max: 1 } }, ["options.min"]],
    [{ options: { minLength: 2, maxLength: 1 } }, ["options.minLength"]],
    [{ options: { pattern: "(?=a)" } }, ["options.pattern"]],
    [{ defaultValue: 5 }, ["defaultValue"]],
    [{ type: "number", defaultValue: "5" }, []],
    [{ options: { max: 1, pattern: "(" } }, ["options.max", "options.pattern"]],
  ])("%j", (change, paths) => {
    expect(definitionIssues({ ...plain, ...change }).map(({ path }) => path)).toEqual(paths);
  });
});
