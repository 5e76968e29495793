import type { FieldCase } from "./field-cases.ts";
import { readTests, type WrittenTest } from "./read-tests.ts";

/** The tree as the check sees it: path → text of the files that hold tests and their helpers. */
export interface Tree {
  readonly tests: ReadonlyMap<string, string>;
  helper(path: string): string | undefined;
}

const id = /\bC\d\d\b/g;

/** The tests of a file that name each case, in their title or in that of a `describe` around them. */
export function casesIn(path: string, text: string, tree: Tree, mayLack: ReadonlySet<string>) {
  const byCase = new Map<string, WrittenTest[]>();
  if (text.search(id) < 0) return byCase;
  for (const test of readTests(path, text, mayLack, tree.helper)) {
    for (const name of new Set(test.titles.join(" ").match(id))) {
      byCase.set(name, [...(byCase.get(name) ?? []), test]);
    }
  }
  return byCase;
}

/** The tests of each case in the whole tree. */
export function testsByCase(tree: Tree, mayLack: ReadonlySet<string>): Map<string, WrittenTest[]> {
  const all = new Map<string, WrittenTest[]>();
  for (const [path, text] of tree.tests) {
    for (const [name, tests] of casesIn(path, text, tree, mayLack)) all.set(name, [...(all.get(name) ?? []), ...tests]);
  }
  return all;
}

/** What is wrong with the tests of a case: one is gone, does not run, asserts nothing or is not listed. */
export function faultsOf(
  listed: FieldCase,
  found: readonly WrittenTest[],
  exists: (what: string) => boolean,
): string[] {
  const paths = new Set([...Object.keys(listed.tests), ...found.map(({ path }) => path)]);
  const miscounted = [...paths].flatMap((path) => {
    const [count, wanted] = [found.filter((test) => test.path === path).length, listed.tests[path] ?? 0];
    return count === wanted ? [] : [`${path} has ${count} tests that name it, listed are ${wanted}`];
  });
  const idle = found.flatMap(({ path, titles, faults }) =>
    faults.map((fault) => `${path}: "${titles.join(" > ")}" ${fault}`),
  );
  const overdue = listed.waitsFor && exists(listed.waitsFor) ? [`${listed.waitsFor} exists: its tests are due`] : [];
  return [...miscounted, ...idle, ...overdue];
}
