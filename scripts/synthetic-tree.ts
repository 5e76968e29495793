import { type SpawnOptions, spawn } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addSyntheticNouns } from "./bench/synthetic-nouns.ts";
import { copyTree } from "./copy-tree.ts";

/**
 * `npm run synthetic-tree [-- --sweeps]`: what the product will cost at 665 endpoints, measured on a copy of the tree whose
 * nouns are repeated: generation, cold build, one changed field, memory of the contract's check, and with `--sweeps` all
 * tests that grow with endpoints. Ends with 1 where a figure is over its limit; the limits are for a quiet machine with two cores.
 */
const ENDPOINTS = 665;
const SWEEPS = [
  "server/test/conformance",
  "server/test/canary/generated.test.ts",
  "server/test/golden",
  "sdk/contract",
];
/** They compare with what was agreed for the real nouns. */
const REAL_ONLY = ["specification", "cli-tree", "auth-matrix", "lists", "contract"].map((name) => `**/${name}.test.ts`);
const MINUTES = 60;

const copy = copyTree("synthetic");
try {
  process.stdout.write(`endpoints: ${addSyntheticNouns(copy, ENDPOINTS)}\n`);
  await measure("npm run gen", ["tsx", "--conditions=source", "scripts/gen.ts"]);
  await measure("contract check alone", ["tsc", "-b", "sdk/contract"], { megabytes: 600 });
  rmSync(join(copy, "dist"), { recursive: true, force: true });
  await measure("cold tsc -b", ["tsc", "-b"], { seconds: 45 });
  const contacts = join(copy, "sdk/contract/resources/tenancy/contacts.ts");
  const text = readFileSync(contacts, "utf8");
  writeFileSync(contacts, text.replace("z.object({\n", "z.object({\n    changedField: z.string().optional(),\n"));
  await measure("tsc -b after one changed field", ["tsc", "-b"], { seconds: 8 });
  writeFileSync(contacts, text);
  if (process.argv.includes("--sweeps")) {
    await measure("bundle of the command", ["tsx", "--conditions=source", "scripts/bundle.ts"]);
    const except = REAL_ONLY.flatMap((glob) => ["--exclude", glob]);
    const sweeps = ["vitest", "run", ...SWEEPS, ...except];
    await measure("tests that grow with endpoints", sweeps, { seconds: 25 * MINUTES }, "inherit");
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}

interface Limits {
  seconds?: number;
  megabytes?: number;
}

/** Runs a command in the copy, tells what it cost, and fails where it ended badly or went over a limit. */
async function measure(what: string, command: readonly string[], limits: Limits = {}, output?: "inherit") {
  const { code, seconds, megabytes } = await cost(command, limits, output ?? ["ignore", "ignore", "inherit"]);
  const { seconds: longest = Number.POSITIVE_INFINITY, megabytes: most = Number.POSITIVE_INFINITY } = limits;
  const over = seconds > longest || megabytes > most;
  if (code !== 0 || over) process.exitCode = 1;
  const allowed = Object.entries(limits).map(([unit, limit]) => `at most ${limit} ${unit}`);
  const notes = [...allowed, ...(over ? ["over the limit"] : []), ...(code === 0 ? [] : [`ended with ${code}`])];
  process.stdout.write(`${what}: ${[`${seconds.toFixed(1)} s`, `${Math.round(megabytes)} MB`, ...notes].join(", ")}\n`);
}

/** Seconds and the most memory that the command and its children held at once. */
async function cost([program, ...args]: readonly string[], { megabytes }: Limits, stdio: SpawnOptions["stdio"]) {
  const start = performance.now();
  // The compiler collects garbage when it must: without a limit of its own it takes what the machine has.
  const env = { ...process.env, ...(megabytes && { GOMEMLIMIT: `${Math.round(megabytes * 0.75)}MiB` }) };
  const child = spawn(join("node_modules/.bin", program as string), args, { cwd: copy, stdio, env, detached: true });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, residentBytes(child.pid as number));
  }, 100);
  const code = await new Promise<number | null>((done) => child.once("exit", done));
  clearInterval(watch);
  return { code, seconds: (performance.now() - start) / 1_000, megabytes: peak / 1024 / 1024 };
}

/** Of all processes in the child's group; 0 where the system does not tell. */
function residentBytes(group: number): number {
  let sum = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (Number(fields[2]) === group) sum += Number(fields[21]) * 4096;
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum;
}
