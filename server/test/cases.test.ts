import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allEndpoints } from "#contract/index";
import { faultsOf, testsByCase } from "./cases/case-faults.ts";
import { fieldCases, mayLack } from "./cases/field-cases.ts";
import { readTree } from "./cases/tree.ts";

const specification = JSON.parse(readFileSync("fixtures/golden/specification.json", "utf8")) as {
  endpoints: Record<string, { noun: string }>;
};

const built = new Set(allEndpoints().flatMap(({ noun, method, path }) => [noun, `${method} ${path}`]));
const specified = new Set(Object.entries(specification.endpoints).flatMap(([key, { noun }]) => [key, noun]));

describe("field cases", () => {
  const tests = testsByCase(readTree(), mayLack);

  it.each(Object.entries(fieldCases))(
    "%s has the tests that are listed for it; each runs and asserts",
    (id, listed) => {
      expect(faultsOf(listed, tests.get(id) ?? [], (what) => built.has(what))).toEqual([]);
    },
  );

  it("are the cases of the glossary, and no test names another", () => {
    const glossary = readFileSync("server/GLOSSARY.md", "utf8").match(/^\| C\d\d (?=\|)/gm) ?? [];
    expect(Object.keys(fieldCases)).toEqual(glossary.map((row) => row.slice(2, 5)));
    expect([...tests.keys()].filter((id) => !(id in fieldCases))).toEqual([]);
  });

  it("wait only for what is specified", () => {
    const awaited = Object.values(fieldCases).flatMap((item) => item.waitsFor ?? []);
    expect(awaited.filter((what) => !specified.has(what))).toEqual([]);
  });
});
