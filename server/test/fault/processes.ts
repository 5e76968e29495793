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
import { migratedPostgres, migratedSqlite } from "../migrated-database.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** The command, which loads what `npm run build` has built. */
export const RMM = fileURLToPath(new URL("../../../bin/rmm.js", import.meta.url));

const READY_MS = 120_000;
const KEPT_LOG_CHARS = 6_000;

/** A server in its own process. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
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

/** A database, and what all server processes on it share. */
export interface Installation {
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** The services of a server in this process, to prepare and inspect data without the API. */
  readonly services: Services;
  readonly db: Kysely<Database>;
  /** On a free port, unless one is given: that of a server which was killed. */
  start(env?: Record<string, string>, port?: number): Promise<ServerProcess>;
  /** Resolves once the audit outbox is empty. */
  settled(): Promise<void>;
  /** Kills running servers and removes the data. */
  remove(): Promise<void>;
}

export interface InstallationOptions {
  env?: Record<string, string>;
  /** URL of a database in another cluster than the shared one. */
  databaseUrl?: string;
  /** The server processes create their secrets in the shared data directory. */
  ownSecrets?: boolean;
  /** The schema is there already: a copy of the tests' own. */
  migrated?: boolean;
  /** Text of the module that is run in place of `rmm server start`, with the built server; it prints the same line. */
  server?: string;
}

/** Runs a story in an installation of its own. */
export async function withInstallation<R>(
  database: DatabaseName,
  options: InstallationOptions,
  story: (installation: Installation) => Promise<R>,
): Promise<R> {
  const installation = await install(database, options);
  try {
    return await story(installation);
  } finally {
    await installation.remove();
  }
}

/** An empty installation. The first server that starts creates the schema. */
export async function install(database: DatabaseName, options: InstallationOptions = {}): Promise<Installation> {
  const dataDir = mkdtempSync(join(tmpdir(), "rmm-fault-"));
  const made = options.databaseUrl === undefined && database === "postgres" ? await newDatabase(options) : undefined;
  if (options.migrated && database === "sqlite") await migratedSqlite(dataDir);
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
  // If the server creates its secrets, not before it has started: reading the configuration would create them here.
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
    async start(more = {}, port = 0) {
      const started = await startProcess({ ...env, ...more }, { port, module: options.server });
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

const newDatabase = ({ migrated }: InstallationOptions) => (migrated ? migratedPostgres() : createDatabase());

const secrets = () => ({
  JWT_SECRET: randomBytes(32).toString("hex"),
  SECRET_ENCRYPTION_KEY: randomBytes(32).toString("hex"),
  ENROLLMENT_KEY_PEPPER: randomBytes(32).toString("hex"),
  AUDIT_ANCHOR_SIGNING_KEY: randomBytes(32).toString("base64"),
});

interface Starting {
  port: number;
  module: string | undefined;
}

/** Runs `rmm server start`, or this module, and resolves when it listens. */
async function startProcess(env: Record<string, string>, { port, module }: Starting): Promise<ServerProcess> {
  const child =
    module === undefined
      ? startRmm(["server", "start", "--json", "--port", String(port)], env)
      : startNode(["--input-type=module", "-e", module], env, { cwd: ROOT });
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
    pid: child.pid as number,
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

/** A new access token of the same session, valid for 15 minutes. */
export function renewed({ services }: Installation, token: string): string {
  const claims = JSON.parse(Buffer.from(token.split(".")[1] as string, "base64url").toString());
  return services.accessTokens.sign(claims);
}

/** Runs the command as a process; of this process's environment it gets only PATH. */
export const startRmm = (argv: readonly string[], env: Record<string, string>): ChildProcess =>
  startNode([RMM, ...argv], env);

const startNode = (argv: readonly string[], env: Record<string, string>, options: { cwd?: string } = {}) =>
  spawn(process.execPath, argv, { ...options, env: { PATH: process.env["PATH"] ?? "", HOME: tmpdir(), ...env } });

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
  /** Waiting fails when this process ends. */
  alive?: ServerProcess;
}

/** Polls until the condition holds; an error counts as false. */
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
