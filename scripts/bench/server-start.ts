import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { freePort } from "#fixtures/postgres";
import type { Bench } from "./bench.ts";

const IDLE_MS = 5_000;
const GIVE_UP_MS = 60_000;

/** `rmm server start` on an existing embedded database: seconds until it answers, megabytes when idle. */
export const serverStart: readonly Bench[] = [
  bench("server ready, seconds", 1, "s", async ({ readySeconds }) => readySeconds),
  bench("server idle, megabytes", 120, "MB", async ({ child }) => {
    await setTimeout(IDLE_MS);
    return residentMb(child);
  }),
];

function bench(name: string, value: number, unit: string, measure: (server: Started) => Promise<number>): Bench {
  let directory = "";
  return {
    name,
    limit: { kind: "max", value },
    async start() {
      directory = mkdtempSync(join(tmpdir(), "rmm-bench-"));
      await ended(await startServer(directory));
    },
    async run() {
      const server = await startServer(directory);
      const measured = await measure(server);
      await ended(server);
      return { measured, against: 1, unit };
    },
    stop: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

interface Started {
  child: ChildProcess;
  readySeconds: number;
}

async function startServer(directory: string): Promise<Started> {
  const port = await freePort();
  const start = performance.now();
  const child = spawn(process.execPath, ["bin/rmm.js", "server", "start"], {
    env: { ...process.env, PORT: `${port}`, RMM_DATA_DIR: directory, LOG_LEVEL: "error" },
    stdio: "ignore",
  });
  while (performance.now() - start < GIVE_UP_MS && child.exitCode === null) {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
    if (answer?.ok) return { child, readySeconds: (performance.now() - start) / 1_000 };
    await setTimeout(5);
  }
  child.kill("SIGKILL");
  throw new Error("the server did not get ready");
}

function ended({ child }: Started): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}

/** Linux only, as the other benches of memory. */
const residentMb = ({ pid }: ChildProcess): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
