import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { postgresUrl } from "#fixtures/postgres";

export interface TestResult {
  name: string;
  state: "passed" | "failed" | "skipped" | "pending";
  /** Messages of the errors, with their differences. */
  failure: string;
}

const reporter = fileURLToPath(new URL("./whole-reporter.ts", import.meta.url));

/** Runs vitest in a copy of the tree; returns the tests that passed and those that failed, without skipped ones. */
export async function runTests(
  copy: string,
  args: readonly string[],
  nouns: readonly string[] = [],
): Promise<TestResult[]> {
  // One process loads the tree once; the other core has the suite's next file.
  const vitest = ["node_modules/vitest/vitest.mjs", "run", `--reporter=${reporter}`, "--maxWorkers=1"];
  const { stdout } = await execa(process.execPath, [...vitest, "--passWithNoTests", ...args], {
    cwd: copy,
    reject: false,
    env: { TEST_DATABASE_URL: await postgresUrl(), ...(nouns.length > 0 ? { NOUNS: nouns.join(",") } : {}) },
  });
  const results = JSON.parse(stdout.slice(stdout.lastIndexOf("\n[") + 1)) as TestResult[];
  return results.filter(({ state }) => state === "passed" || state === "failed");
}
