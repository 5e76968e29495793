import { describe, expect, it } from "vitest";
import { casesIn, faultsOf, testsByCase } from "../cases/case-faults.ts";
import { fieldCases, mayLack } from "../cases/field-cases.ts";
import type { WrittenTest } from "../cases/read-tests.ts";
import { readTree } from "../cases/tree.ts";

const tree = readTree();
const written = testsByCase(tree, mayLack);
const nothingNew = () => false;

/** Faults that the check of field cases reports for a case after a change of this test. */
function faultsAfter(id: string, test: WrittenTest, change: (text: string, test: WrittenTest) => string): string[] {
  const text = tree.tests.get(test.path) as string;
  const { start, end } = test.whole;
  const changed = text.slice(0, start) + change(text.slice(start, end), test) + text.slice(end);
  expect(changed).not.toBe(text);
  const elsewhere = (written.get(id) ?? []).filter(({ path }) => path !== test.path);
  const here = casesIn(test.path, changed, tree, mayLack).get(id) ?? [];
  return faultsOf(fieldCases[id] as never, [...elsewhere, ...here], nothingNew);
}

const marked = (mark: string) => (text: string) => text.replace(/^\w+/, `$&${mark}`);

const withBody =
  (statements: string) =>
  (text: string, { body, whole }: WrittenTest) => {
    if (!body) return "";
    return `${text.slice(0, body.start - whole.start)}async () => { ${statements} }${text.slice(body.end - whole.start)}`;
  };

const ways: Record<string, (text: string, test: WrittenTest) => string> = {
  deleted: () => "undefined",
  "marked skip": marked(".skip"),
  "marked todo": marked(".todo"),
  "marked as failing": marked(".fails"),
  "skipped on a condition that always holds": marked(".skipIf(1 < 2)"),
  "declared on a condition": (text) => `if (1 > 2) ${text}`,
  emptied: withBody(""),
  "left without a comparison": withBody("expect(1 < 2); expect.any(String); expect.hasAssertions();"),
  "left with assertions that nothing calls": withBody(
    "const unused = () => expect(1).toBe(1); function no() { unused(); }",
  ),
};

describe("the check of field cases turns red", () => {
  const held = [...written].flatMap(([id, tests]) => tests.map((test) => [id, test] as const));

  it("but not for the tree as it is", () => {
    expect(held.length).toBeGreaterThan(80);
    expect(held.filter(([, { faults }]) => faults.length > 0)).toEqual([]);
  });

  it.each(Object.entries(ways))("for a test that is %s, whichever it is", (_, change) => {
    const firsts = [...written].map(([id, tests]) => [id, tests[0] as WrittenTest] as const);
    expect(firsts.filter(([id, test]) => faultsAfter(id, test, change).length === 0).map(([id]) => id)).toEqual([]);
  });

  it("for a test that returns before it asserts, skips itself, or stands in a describe that is skipped", () => {
    const [id, test] = held.find(([name]) => name === "C01") as (typeof held)[number];
    const body = test.body as NonNullable<WrittenTest["body"]>;
    const opened = (first: string) => (text: string) => {
      const at = text.indexOf("{", body.start - test.whole.start) + 1;
      return text.slice(0, at) + first + text.slice(at);
    };
    expect(faultsAfter(id, test, opened("return;"))).toEqual([expect.stringContaining("asserts nothing")]);
    expect(faultsAfter(id, test, opened("skip();"))).toEqual([expect.stringContaining("skips itself")]);
    expect(faultsAfter(id, test, (text) => `describe.${"skip"}("x", () => { ${text} })`)).toEqual([
      expect.stringContaining("marked skip"),
    ]);
  });

  it("for a test of a case that is open or waits, and for a noun that a case waits for", () => {
    const [, test] = held[0] as (typeof held)[number];
    const open = { tests: {} };
    expect(faultsOf(open, [], nothingNew)).toEqual([]);
    expect(faultsOf(open, [test], nothingNew)).toHaveLength(1);
    const waiting = { tests: {}, waitsFor: "tickets" };
    expect(faultsOf(waiting, [], nothingNew)).toEqual([]);
    expect(faultsOf(waiting, [], (what) => what === "tickets")).toEqual([expect.stringContaining("due")]);
  });
});
