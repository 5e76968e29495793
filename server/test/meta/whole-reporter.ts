import { stripVTControlCharacters } from "node:util";
import type { Reporter, TestModule } from "vitest/node";
import type { TestResult } from "./run-tests.ts";

/** Prints as JSON what each test came to, with whole differences, which vitest's own JSON leaves out. */
// biome-ignore lint/style/noDefaultExport: vitest takes the default export of a reporter's file
export default class WholeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const results = modules.flatMap(({ children }) =>
      [...children.allTests()].map((test): TestResult => {
        const { state, errors = [] } = test.result();
        const failure = stripVTControlCharacters(
          errors.map(({ message, diff }) => `${message}\n${diff ?? ""}`).join("\n"),
        );
        return { name: test.fullName.replaceAll(" > ", " "), state, failure };
      }),
    );
    process.stdout.write(JSON.stringify(results));
  }
}
