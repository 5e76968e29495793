import { defineConfig } from "vitest/config";
import { SlowFirst } from "./scripts/slow-first.ts";

/** `source` makes `#contract/…`, `#sdk/…` and their like resolve to the TypeScript files. */
const conditions = ["source"];

export default defineConfig({
  resolve: { conditions },
  // The compiler settings that matter here are the defaults; reading every referenced project would only cost time.
  oxc: { tsconfig: false } as object,
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ["sdk", "server", "cli", "scripts", "testing"].map((room) => `${room}/**/*.test.ts`),
    globalSetup: ["server/test/global-postgres.ts"],
    sequence: { sequencer: SlowFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What happens after an answer takes longer than a second on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    pool: "forks",
    // Most of what a test makes is gone at once: with more room for it the collector seldom runs.
    execArgv: ["--max-semi-space-size=64"],
    // Test files of one worker share what they import, which would cost each a second of its own. None of them changes
    // anything for the others: servers, databases and files are its own, and what it sets it sets back.
    isolate: false,
    // Tests wait for disks, databases and processes more than they compute.
    maxWorkers: "100%",
  },
});
