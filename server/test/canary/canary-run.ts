import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { main } from "#cli/main";
import type { Shell } from "#cli/shell";
import { RMM } from "../fault/processes.ts";

export interface CanaryRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Files, arguments and environments in which the run left text, by place. */
  readonly elsewhere: ReadonlyMap<string, string>;
}

/** Placeholder in arguments for the working folder of the run. */
export const HERE = "@here";

export interface CanaryPlan {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Input files: name → content. */
  readonly given?: Readonly<Record<string, string>>;
  /** Called when the run has started; `interrupt` sends Ctrl-C. */
  readonly onStart?: (interrupt: () => void) => void;
}

const LOOK_MS = 15;
const AGAIN_MS = 400;

/** Runs `rmm` in new folders, and afterwards collects everything that it could have written. */
export async function canaryRun({ argv, env = {}, stdin = "", given = {}, onStart }: CanaryPlan): Promise<CanaryRun> {
  const { root, work, home, temp } = folders(given);
  const words = argv.map((word) => word.replaceAll(HERE, work));
  const child = spawn(process.execPath, [RMM, ...words], {
    cwd: work,
    env: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: temp, DEBUG: "*", ...placed(env, work) },
  });
  const streams = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (streams.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (streams.stderr += chunk.toString()));
  child.stdin.on("error", () => undefined);
  child.stdin.end(stdin);
  // A command that first finishes its current item needs a second signal.
  onStart?.(() => {
    child.kill("SIGINT");
    setTimeout(() => child.kill("SIGINT"), AGAIN_MS).unref();
  });
  const elsewhere = new Map<string, string>();
  const looking = setInterval(() => lookAtProcesses(child.pid as number, elsewhere), LOOK_MS);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  clearInterval(looking);
  collectFiles(root, { work, given }, elsewhere);
  return { code, ...streams, elsewhere };
}

function folders(given: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), "rmm-canary-"));
  const [work, home, temp] = ["work", "home", "temp"].map((name) => join(root, name)) as [string, string, string];
  for (const folder of [work, home, temp]) mkdirSync(folder);
  for (const [name, text] of Object.entries(given)) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), text, { mode: 0o600 });
  }
  return { root, work, home, temp };
}

const placed = (env: Readonly<Record<string, string>>, work: string) =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replaceAll(HERE, work)]));

/** Collects what the run wrote, then removes its folders. An input file counts only if the run changed it. */
function collectFiles(
  root: string,
  { work, given }: { work: string; given: Readonly<Record<string, string>> },
  into: Map<string, string>,
): void {
  for (const [path, text] of filesBelow(root)) {
    const name = relative(work, path);
    if (given[name] !== text) into.set(`file ${relative(root, path)}`, text);
  }
  rmSync(root, { recursive: true, force: true });
}

/**
 * The same in this process: a thousand times faster, without waits between attempts, and without a process whose arguments
 * could be read.
 */
export async function canaryCall({ argv, env = {}, stdin = "", given = {}, onStart }: CanaryPlan): Promise<CanaryRun> {
  const { root, work, home, temp } = folders(given);
  const streams = { stdout: "", stderr: "" };
  const sink = (name: "stdout" | "stderr") =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        streams[name] += chunk.toString();
        done();
      },
    });
  const interrupt = new AbortController();
  onStart?.(() => interrupt.abort());
  const shell: Shell = {
    stdin: Readable.from(stdin === "" ? [] : [Buffer.from(stdin)]),
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    isTty: { stdin: false, stdout: false, stderr: false },
    env: { HOME: home, TMPDIR: temp, RMM_CONFIG_DIR: join(home, "config"), ...placed(env, work) },
    columns: 100,
    now: Date.now,
    random: () => 0,
    sleep: (_ms, signal) => pause(0, undefined, { signal }).catch(() => undefined),
    signal: interrupt.signal,
    secrets: new Set(),
  };
  const words = argv.map((word) => word.replaceAll(HERE, work));
  const code = await main(shell, words);
  const elsewhere = new Map<string, string>();
  collectFiles(root, { work, given }, elsewhere);
  return { code, ...streams, elsewhere };
}

/** Reads the arguments of the process and of its children, and the environment of the children. */
function lookAtProcesses(pid: number, into: Map<string, string>): void {
  const show = (path: string) => {
    try {
      return readFileSync(path, "latin1").replaceAll("\0", " ");
    } catch {
      return "";
    }
  };
  into.set(`argv of ${pid}`, show(`/proc/${pid}/cmdline`) || (into.get(`argv of ${pid}`) ?? ""));
  const children = show(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean);
  for (const one of children.map(Number)) {
    into.set(`argv of child ${one}`, show(`/proc/${one}/cmdline`));
    into.set(`environment of child ${one}`, show(`/proc/${one}/environ`));
    lookAtProcesses(one, into);
  }
}

function filesBelow(folder: string): [path: string, text: string][] {
  return readdirSync(folder).flatMap((name): [string, string][] => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [[path, readFileSync(path, "latin1")]];
  });
}
