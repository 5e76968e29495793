import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyTree } from "../../../scripts/copy-tree.ts";
import { proving } from "../proving.ts";
import { type Break, batches } from "./breaks.ts";
import { runTests, type TestResult } from "./run-tests.ts";

const all = batches.flatMap(({ breaks }) => breaks);
it.each(all)("$what can still be planted", ({ file, from, to, noticed }) => {
  const good = readFileSync(file, "utf8");
  expect(good.replace(from, to), `${file} has changed: nothing would be broken`).not.toBe(good);
  expect(existsSync(noticed.by), `${noticed.by} is to notice it`).toBe(true);
});

// Minutes of other tests' time.
describe.runIf(proving).each(batches)("the suite turns red for a break of $of:", ({ breaks, nouns }) => {
  let copy: string;
  let tests: TestResult[];
  beforeAll(async () => {
    copy = copyTree("broken");
    for (const one of breaks) plant(copy, one);
    const files = new Set(breaks.map(({ noticed }) => noticed.by));
    const names = breaks.map(({ noticed }) => noticed.named).join("|");
    tests = await runTests(copy, [...files, "-t", names], nouns);
  }, 180_000);
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it.each(breaks)("$what, by the test that should notice", ({ noticed: { named, says } }) => {
    const test = tests.find(({ name }) => name.includes(named));
    expect(test, "the test that should notice did not run").toBeDefined();
    expect(test?.state).toBe("failed");
    expect(test?.failure).toMatch(says);
  });
});

function plant(copy: string, { file, from, to }: Break): void {
  const path = join(copy, file);
  const good = readFileSync(path, "utf8");
  const bad = good.replace(from, to);
  expect(bad, `${file} has changed: nothing was broken`).not.toBe(good);
  writeFileSync(path, bad);
}
