import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RMM } from "../fault/processes.ts";

export interface StepRun {
  readonly name: string;
  readonly code: number | null;
  /** stdout and stderr in the order of output, before the runner masks anything. */
  readonly log: string;
}

/** What a job sees of a CI runner: no terminal, a shell, a working copy, `rmm` on the PATH. */
export interface Runner {
  readonly dir: string;
  write(name: string, text: string, mode?: number): void;
  read(name: string): string;
  exists(name: string): boolean;
  /** Runs a script as the service does (GitHub's shell, unless a step names one, has no `pipefail`); nothing of this process's environment but the way to programs goes along. */
  script(name: string, script: string, env: Record<string, string>): Promise<StepRun>;
  remove(): void;
}

export function ciRunner(): Runner {
  const root = mkdtempSync(join(tmpdir(), "rmm-ci-"));
  const [dir, bin, home] = ["work", "bin", "home"].map((name) => join(root, name)) as [string, string, string];
  for (const folder of [dir, bin, home]) mkdirSync(folder);
  writeFileSync(join(bin, "rmm"), `#!/bin/sh\nexec '${process.execPath}' '${RMM}' "$@"\n`);
  chmodSync(join(bin, "rmm"), 0o755);
  return {
    dir,
    write: (name, text, mode = 0o644) => writeFileSync(join(dir, name), text, { mode }),
    read: (name) => readFileSync(join(dir, name), "utf8"),
    exists: (name) => existsSync(join(dir, name)),
    script: (name, script, env) =>
      new Promise((resolve, reject) => {
        const file = join(root, "step.sh");
        writeFileSync(file, script);
        const child = spawn("bash", ["--noprofile", "--norc", "-e", file], {
          cwd: dir,
          env: { PATH: `${bin}:${process.env["PATH"] ?? ""}`, HOME: home, CI: "true", ...env },
          stdio: ["ignore", "pipe", "pipe"],
        });
        let log = "";
        for (const stream of [child.stdout, child.stderr])
          stream.on("data", (chunk: Buffer) => (log += chunk.toString()));
        child.once("error", reject);
        child.once("close", (code) => resolve({ name, code, log }));
      }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** The log as shown: a masked value is `***` from the line on that masks it. */
export function maskedLog(log: string): string {
  const masks: string[] = [];
  return log
    .split("\n")
    .flatMap((line) => {
      const mask = /^::add-mask::(.+)$/.exec(line)?.[1];
      if (mask !== undefined) masks.push(mask);
      return mask === undefined ? [masks.reduce((text, secret) => text.replaceAll(secret, "***"), line)] : [];
    })
    .join("\n");
}
