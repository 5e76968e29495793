import { availableParallelism } from "node:os";
import { startVitest, type TestModule } from "vitest/node";
import { allEndpoints } from "#contract/index";

/**
 * `npm run sweep-cost`: what all sweeps together cost per endpoint and database, in seconds of tests and of setting up for
 * them. `NOUNS=sites` measures some nouns. Fails above the limit; the figure is wall-clock time, so it needs a quiet machine.
 */
const LIMIT_SECONDS = 0.6;
const DATABASES = ["sqlite", "postgres"];

const vitest = await startVitest(
  "test",
  DATABASES.map((database) => `server/test/conformance/${database}/`),
  { watch: false, reporters: ["dot"], passWithNoTests: true },
);
const modules = vitest.state.getTestModules();
const failed = modules.filter((one) => !one.ok());
await vitest.close();

const seconds = (one: TestModule) => one.diagnostic().duration / 1_000;
const sum = (some: readonly TestModule[]) => some.reduce((total, one) => total + seconds(one), 0);
for (const one of modules.toSorted((a, b) => seconds(b) - seconds(a)))
  print(seconds(one), one.moduleId.replace(/^.*\/conformance\//, "").replace(/\.test\.ts$/, ""));
for (const database of DATABASES) print(sum(modules.filter((one) => one.moduleId.includes(`/${database}/`))), database);

const nouns = process.env["NOUNS"]?.split(",");
const endpoints = allEndpoints().filter(({ noun }) => nouns === undefined || nouns.includes(noun)).length;
const each = sum(modules) / endpoints / DATABASES.length;
process.stdout.write(
  `${each.toFixed(2)} s per endpoint and database (${endpoints} endpoints, ${availableParallelism()} cores; at most ${LIMIT_SECONDS})\n`,
);
process.exitCode = failed.length === 0 && each <= LIMIT_SECONDS ? 0 : 1;

function print(value: number, name: string): void {
  process.stdout.write(`${value.toFixed(1).padStart(8)} s  ${name}\n`);
}
