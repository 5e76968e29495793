import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testCommand } from "#cli/test-shell";

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  stdin?: string;
}

export interface Started {
  /** Resolves to the first match on stderr. Rejects when the process ends without one. */
  onStderr(pattern: RegExp): Promise<RegExpExecArray>;
  readonly done: Promise<Ran>;
  kill(signal: "SIGINT" | "SIGTERM"): void;
}

/** The command, with a working folder and profiles for one test file. */
export interface Rmm {
  dir: string;
  run(argv: readonly string[], options?: RunOptions): Promise<Ran>;
  close(): void;
}

/** Runs the built `rmm` as a process. */
export interface RmmProcess extends Rmm {
  /** Starts a process and does not wait for its end. */
  start(argv: readonly string[], options?: RunOptions): Started;
}

const bin = fileURLToPath(new URL("../../../bin/rmm.js", import.meta.url));

/**
 * Runs the command in this process, which takes a tenth of the time. Until it is closed its folder is this process's
 * working folder, as it is that of a real `rmm`.
 */
export function rmmHere(env: Record<string, string>): Rmm {
  const { dir, run, close } = testCommand();
  const before = process.cwd();
  process.chdir(dir);
  const own = { PATH: process.env["PATH"] ?? "", HOME: dir, ...env };
  return {
    dir,
    run: (argv, { env: more, stdin } = {}) =>
      run(argv, { env: { ...own, ...more }, now: Date.now, ...(stdin === undefined ? {} : { stdin }) }),
    close() {
      process.chdir(before);
      close();
    },
  };
}

/** `env` is set for every run; of this process's environment only PATH is. `given`: the folder of another that it shares. */
export function rmmProcess(env: Record<string, string>, given?: string): RmmProcess {
  if (!existsSync(join(bin, "../../dist/rmm/entry.cjs"))) throw new Error("not built: npm run build");
  const dir = given ?? mkdtempSync(join(tmpdir(), "rmm-e2e-"));
  const own = { PATH: process.env["PATH"] ?? "", HOME: dir, RMM_CONFIG_DIR: join(dir, "config"), ...env };
  const start = (argv: readonly string[], options: RunOptions = {}): Started => {
    const child = spawn(process.execPath, [bin, ...argv], { cwd: dir, env: { ...own, ...options.env } });
    const ran: Ran = { code: null, stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => (ran.stdout += chunk.toString("utf8")));
    child.stderr.on("data", (chunk: Buffer) => (ran.stderr += chunk.toString("utf8")));
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.stdin ?? "");
    const done = new Promise<Ran>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve({ ...ran, code }));
    });
    return {
      done,
      kill: (signal) => void child.kill(signal),
      onStderr: (pattern) =>
        new Promise((resolve, reject) => {
          const look = () => {
            const found = pattern.exec(ran.stderr);
            if (found) resolve(found);
          };
          child.stderr.on("data", look);
          done.then(({ code, stderr }) => reject(new Error(`ended with ${code}: ${stderr}`)), reject);
          look();
        }),
    };
  };
  return {
    dir,
    start,
    run: (argv, options) => start(argv, options).done,
    close: () => given ?? rmSync(dir, { recursive: true, force: true }),
  };
}
