import { spawnSync } from "node:child_process";

/**
 * `npm run prove`: the long version of every proof that `npm test` has a short one of: thousands of kills, 100,000 fuzzed
 * requests a database, generated requests by the hundred, and ten minutes at full speed. Takes hours; each prints its seed.
 */
const steps: readonly (readonly [command: string, ...args: string[]])[] = [
  ["npm", "run", "build"],
  [
    "vitest",
    "run",
    "server/test/fault",
    "server/test/conformance/sqlite/generated",
    "server/test/conformance/postgres/generated",
  ],
  ["node", "dist/scripts/soak.js"],
];

for (const [command, ...args] of steps) {
  const env = { ...process.env, PROVE: "1" };
  const { status } = spawnSync(command, args, { stdio: "inherit", env, shell: process.platform === "win32" });
  if (status !== 0) process.exit(status ?? 1);
}
