import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "../../errors/cli-error.ts";
import { readOwnText } from "../../input/read-text.ts";
import { plainEnv } from "./plain-env.ts";

export interface DemoServer {
  url: string;
  pid: number;
  /** What the server wrote to its log last. */
  lastLines(count: number): Promise<string[]>;
  stop(): Promise<void>;
  /** Lets this process end and the server go on. */
  leaveRunning(): void;
}

interface Options {
  dir: string;
  port: string;
  /** In a process group of its own, so that Ctrl-C at the terminal does not reach it later. */
  detached: boolean;
  signal: AbortSignal;
}

const START_MS = 30_000;
const STOP_MS = 15_000;

/** Starts `rmm server start` as a process of its own, the program that runs right now. */
export async function startDemoServer({ dir, port, detached, signal }: Options): Promise<DemoServer> {
  const logPath = join(dir, "server.log");
  const log = openSync(logPath, "a", 0o600);
  const args = ["server", "start", "--json", "--port", port, "--data-dir", join(dir, "data")];
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] as string, ...args], {
    env: { ...plainEnv(process.env), AGENT_ENROLL_RATE_LIMIT: "1000", PAM_ACTUATOR_ENABLED: "true" },
    stdio: ["ignore", "pipe", log],
    detached,
  });
  closeSync(log);
  const lastLines = async (count: number) =>
    (await readOwnText(logPath).catch(() => ""))
      .trimEnd()
      .split("\n")
      .slice(-count)
      .map((line) => line.slice(0, 500));
  const stop = () => stopped(child);
  try {
    const url = await listening(child, signal);
    return {
      ...{ url, pid: child.pid as number, lastLines, stop },
      leaveRunning: () => {
        child.stdout?.destroy();
        child.unref();
      },
    };
  } catch (error) {
    await stop();
    const { message } = error as Error;
    throw new CliError(`Start a server: ${message}`, {
      exit: signal.aborted ? "interrupted" : "failure",
      code: "QUICKSTART_FAILED",
      details: await lastLines(15),
      cause: error,
    });
  }
}

function listening(child: ChildProcess, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail(`the server did not answer within ${START_MS / 1000} s`), START_MS);
    const fail = (reason: string) => {
      clearTimeout(timer);
      reject(new Error(reason));
    };
    child.once("error", ({ message }) => fail(message));
    child.once("exit", (code) => fail(`the server ended with code ${code}`));
    signal.addEventListener("abort", () => fail("interrupted"), { once: true });
    let said = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (!said.includes("\n")) return;
      clearTimeout(timer);
      resolve((JSON.parse(said.split("\n", 1)[0] as string) as { url: string }).url);
    });
  });
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await ended;
  clearTimeout(timer);
}
