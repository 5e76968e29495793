import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Kysely } from "kysely";
import { createDatabase, dropDatabase } from "#fixtures/postgres";
import { buildServices } from "#server/app";
import { readConfig } from "#server/config";
import type { Database } from "#server/db/tables";
import { silentLog } from "#server/platform/log";
import type { Services } from "#server/services";
import { type Answer, type DatabaseName, type RequestOptions, send } from "../harness.ts";

/** The built command: `npm run build` makes what it loads. */
export const RMM = fileURLToPath(new URL("../../../bin/rmm.js", import.meta.url));

const READY_MS = 120_000;
const KEPT_LOG_CHARS = 6_000;

/** A server in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  /** The end of what it logged. */
  log(): string;
  readonly alive: boolean;
  /** Rejects when the connection fails, as it does while the process dies. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  signal(name: NodeJS.Signals): void;
  /** `kill -9`; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Asks it to stop and resolves to its exit code. */
  stop(): Promise<number | null>;
}

/** One database with everything that any number of server processes on it share. */
export interface Installation {
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** What a server is made of, in this process: for arranging and looking behind the API. */
  readonly services: Services;
  readonly db: Kysely<Database>;
  start(env?: Record<string, string>): Promise<ServerProcess>;
  /** Resolves once the audit outbox is empty. */
  settled(): Promise<void>;
  /** Kills what still runs and removes the data. */
  remove(): Promise<void>;
}

export interface InstallationOptions {
  env?: Record<string, string>;
  /** A database of another cluster than the shared one. */
  databaseUrl?: string;
  /** The processes make their secrets themselves, in the data directory they share. */
  ownSecrets?: boolean;
}

/** An empty installation. Its schema comes with the first server that starts. */
export async function install(database: DatabaseName, options: InstallationOptions = {}): Promise<Installation> {
  const dataDir = mkdtempSync(join(tmpdir(), "rmm-fault-"));
  const made = options.databaseUrl === undefined && database === "postgres" ? await createDatabase() : undefined;
  const url = options.databaseUrl ?? made;
  const env = {
    RMM_DATA_DIR: dataDir,
    ...(url === undefined ? {} : { DATABASE_URL: url }),
    ...(options.ownSecrets ? {} : secrets()),
    LOG_LEVEL: "warn",
    API_RATE_LIMIT_PER_MINUTE: "0",
    ...options.env,
  };
  let built: Services | undefined;
  // Not before the first server when the secrets are its own: reading the configuration would make them here.
  const services = () => {
    built ??= buildServices(readConfig(env), { log: silentLog });
    return built;
  };
  const running = new Set<ServerProcess>();
  return {
    dataDir,
    env,
    get services() {
      return services();
    },
    get db() {
      return services().store.connection("system");
    },
    async start(more = {}) {
      const started = await startProcess({ ...env, ...more });
      running.add(started);
      return started;
    },
    settled: () =>
      until("the audit outbox is empty", async () => {
        const waiting = await services()
          .store.connection("system")
          .selectFrom("auditOutbox")
          .select("id")
          .limit(1)
          .execute();
        return waiting.length === 0;
      }),
    async remove() {
      for (const process of running) await process.kill();
      await built?.store.close();
      if (made) await dropDatabase(made);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const secrets = () => ({
  JWT_SECRET: randomBytes(32).toString("hex"),
  SECRET_ENCRYPTION_KEY: randomBytes(32).toString("hex"),
  ENROLLMENT_KEY_PEPPER: randomBytes(32).toString("hex"),
  AUDIT_ANCHOR_SIGNING_KEY: randomBytes(32).toString("base64"),
});

/** Runs `rmm server start` on a free port and resolves when it listens. */
async function startProcess(env: Record<string, string>): Promise<ServerProcess> {
  const child = startRmm(["server", "start", "--json", "--port", "0"], env);
  let log = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-KEPT_LOG_CHARS);
  });
  const gone = exitOf(child);
  const url = await listening(child, gone, () => log);
  const kill = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return gone;
  };
  return {
    url,
    log: () => log,
    get alive() {
      return child.exitCode === null && child.signalCode === null;
    },
    request: (method, path, options) => send(url, method, path, options),
    signal: (name) => void child.kill(name),
    kill: async () => void (await kill("SIGKILL")),
    stop: () => kill("SIGTERM"),
  };
}

/** The same session's token, valid for another quarter of an hour. */
export function renewed({ services }: Installation, token: string): string {
  const claims = JSON.parse(Buffer.from(token.split(".")[1] as string, "base64url").toString());
  return services.accessTokens.sign(claims);
}

/** The command as a process: nothing of this process's environment but the way to programs. */
export const startRmm = (argv: readonly string[], env: Record<string, string>): ChildProcess =>
  spawn(process.execPath, [RMM, ...argv], { env: { PATH: process.env["PATH"] ?? "", HOME: tmpdir(), ...env } });

export const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once("exit", (code) => resolve(code)));

function listening(child: ChildProcess, gone: Promise<number | null>, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    let out = "";
    const fail = (why: string) => reject(new Error(`the server ${why}\n${out}${log()}`));
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      fail(`did not listen within ${READY_MS} ms`);
    }, READY_MS);
    child.stdout?.on("data", (chunk: Buffer) => {
      out += chunk.toString();
      const line = /^\{"event":"listening".*\}$/m.exec(out)?.[0];
      if (line === undefined) return;
      clearTimeout(timer);
      resolve((JSON.parse(line) as { url: string }).url);
    });
    void gone.then((code) => {
      clearTimeout(timer);
      fail(`exited with ${code}`);
    });
  });
}

export interface Patience {
  timeoutMs?: number;
  /** The process that has to live for it. */
  alive?: ServerProcess;
}

/** Asks again until the answer is yes; what is thrown meanwhile counts as no. */
export async function until(what: string, holds: () => Promise<boolean>, patience: Patience = {}): Promise<void> {
  const { timeoutMs = 120_000, alive } = patience;
  const end = Date.now() + timeoutMs;
  let last: unknown;
  while (Date.now() < end) {
    try {
      if (await holds()) return;
    } catch (error) {
      last = error;
    }
    if (alive?.alive === false) throw new Error(`the server died before: ${what}\n${alive.log()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not within ${timeoutMs} ms: ${what}\n${alive?.log() ?? ""}`, { cause: last });
}
