import { type SpawnOptions, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { addSyntheticNouns, copyTree } from "./bench/synthetic-nouns.ts";

/**
 * `npm run synthetic-tree [-- --sweeps]`: what the product will cost at 665 endpoints, measured on a copy of the tree whose
 * nouns are repeated: generation, cold build, one changed field, memory of the contract's check, and with `--sweeps` all
 * tests that grow with endpoints.
 */
const ENDPOINTS = 665;
const SWEEPS = [
  "server/test/conformance",
  "server/test/canary/generated.test.ts",
  "server/test/golden",
  "sdk/contract",
];
/** They compare with what was agreed for the real nouns. */
const REAL_ONLY = ["**/specification.test.ts", "**/cli-tree.test.ts", "**/auth-matrix.test.ts"];

const copy = mkdtempSync(join(tmpdir(), "rmm-synthetic-"));
try {
  copyTree(".", copy);
  symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
  report("endpoints", String(addSyntheticNouns(copy, ENDPOINTS)));
  report("npm run gen", await timed("npx", ["tsx", "--conditions=source", "scripts/gen.ts"]));
  report("contract check alone", await timed("npx", ["tsc", "-b", "sdk/contract"]));
  rmSync(join(copy, "dist"), { recursive: true, force: true });
  report("cold tsc -b", await timed("npx", ["tsc", "-b"]));
  const contacts = join(copy, "sdk/contract/resources/tenancy/contacts.ts");
  const text = readFileSync(contacts, "utf8");
  writeFileSync(contacts, text.replace("z.object({\n", "z.object({\n    changedField: z.string().optional(),\n"));
  report("tsc -b after one changed field", await timed("npx", ["tsc", "-b"]));
  writeFileSync(contacts, text);
  if (process.argv.includes("--sweeps")) {
    const except = REAL_ONLY.flatMap((glob) => ["--exclude", glob]);
    report("tests that grow with endpoints", await timed("npx", ["vitest", "run", ...SWEEPS, ...except], "inherit"));
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}

function report(what: string, value: string): void {
  process.stdout.write(`${what}: ${value}\n`);
}

/** Seconds and the most memory that the command and its children held at once. */
async function timed(
  command: string,
  args: readonly string[],
  stdio: SpawnOptions["stdio"] = ["ignore", "ignore", "inherit"],
) {
  const start = performance.now();
  const child = spawn(command, args, { cwd: copy, stdio, detached: true });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, residentBytes(child.pid as number));
  }, 100);
  const code = await new Promise<number | null>((done) => child.once("exit", done));
  clearInterval(watch);
  if (code !== 0) process.exitCode = 1;
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  return `${seconds} s, ${Math.round(peak / 1024 / 1024)} MB${code === 0 ? "" : `, ended with ${code}`}`;
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
