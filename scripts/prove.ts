import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

/**
 * `npm run prove`: the long version of every proof that `npm test` has a short one of: thousands of kills, 100,000 fuzzed
 * requests a database, generated requests by the hundred and every endpoint in every sweep, breaks planted into copies of
 * the tree, 10,000 filters a database, 100,000 reports of elevations and their races 200 times each, bundles of a million entries, ten minutes of a fleet, and ten at full speed. Takes hours; each
 * prints its seed. `-- faults soak` runs these parts alone, `--share 0.05` a twentieth of every count.
 */
const SOAK_MINUTES = 10;

const { values, positionals } = parseArgs({ options: { share: { type: "string" } }, allowPositionals: true });
const share = Number(values.share ?? 1);
const sweeps = ["sqlite", "postgres"].flatMap((database) =>
  ["bodies", "generated", "odd-requests", "persons", "secrets"].map(
    (name) => `server/test/conformance/${database}/${name}`,
  ),
);
const elevations = "server/features/access-control/elevation-requests";
const parts: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  faults: ["vitest", "run", "server/test/fault"],
  sweeps: ["vitest", "run", ...sweeps],
  meta: ["vitest", "run", "server/test/meta", "cli/flag-effects.test.ts"],
  filters: ["vitest", "run", "server/test/filters"],
  evidence: ["vitest", "run", "server/test/evidence"],
  fleet: ["vitest", "run", "server/test/fleet"],
  elevations: ["vitest", "run", ...["races", "report"].map((name) => `${elevations}/${name}.test.ts`)],
  soak: ["node", "dist/scripts/soak.js", String(SOAK_MINUTES * share)],
};
const chosen = positionals.length > 0 ? positionals : Object.keys(parts);
if (!(share > 0 && share <= 1) || chosen.some((part) => !(part in parts))) {
  process.stderr.write(`usage: prove [--share 0..1] [${Object.keys(parts).join("] [")}]\n`);
  process.exit(2);
}

const minutesOf = (ms: number) => (ms / 60_000).toFixed(1);
const outcomes: string[] = [];
const built = run(["npm", "run", "build"]);
if (built !== 0) process.exit(built);
for (const part of chosen) {
  const began = performance.now();
  const code = run(parts[part] as (typeof parts)[string]);
  outcomes.push(`${code === 0 ? "ok  " : "FAIL"} ${part}: ${minutesOf(performance.now() - began)} min\n`);
  if (code !== 0) process.exitCode = 1;
}
process.stdout.write(`\n${outcomes.join("")}`);

function run([command, ...args]: readonly [string, ...string[]]): number {
  const env = { ...process.env, PROVE: String(share) };
  return spawnSync(command, args, { stdio: "inherit", env, shell: process.platform === "win32" }).status ?? 1;
}
