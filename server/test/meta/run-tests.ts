import { execa } from "execa";

interface TestResult {
  status: string;
  fullName: string;
}

interface Report {
  testResults: { assertionResults: TestResult[] }[];
}

/** Runs vitest in a copy of the tree; returns the tests that passed and those that failed, without skipped ones. */
export async function runTests(copy: string, args: readonly string[], nouns?: string): Promise<TestResult[]> {
  const { stdout } = await execa("npx", ["vitest", "run", "--reporter=json", "--passWithNoTests", ...args], {
    cwd: copy,
    reject: false,
    ...(nouns ? { env: { NOUNS: nouns } } : {}),
  });
  const { testResults } = JSON.parse(stdout.slice(stdout.indexOf("{"))) as Report;
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "passed" || status === "failed");
}

export const failed = (tests: readonly TestResult[]): string[] =>
  tests.filter(({ status }) => status === "failed").map(({ fullName }) => fullName);
