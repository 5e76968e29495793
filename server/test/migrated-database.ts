import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { createDatabase, postgresUrl } from "#fixtures/postgres";
import { buildServices } from "#server/app";
import { readConfig } from "#server/config";
import { silentLog } from "#server/platform/log";

/** Prefix of what the test files of one run share; set by `global-postgres.ts`, else by this process. */
const run = process.env["RMM_TEST_RUN"] ?? `${process.pid}`;

/** URL of a new Postgres database with every migration: a copy of one that the first caller has migrated. */
export async function migratedPostgres(): Promise<string> {
  template ??= postgresTemplate();
  return createDatabase({ template: await template });
}

let template: Promise<string> | undefined;

/** Renamed when complete, under a lock, so that test files that start together migrate only one. */
async function postgresTemplate(): Promise<string> {
  const cluster = await postgresUrl();
  const name = `migrated_${run}`;
  const client = new pg.Client({ connectionString: cluster });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock(hashtext($1))", [name]);
    const { rowCount } = await client.query("select 1 from pg_database where datname = $1", [name]);
    if (rowCount === 0) {
      const made = await createDatabase({ label: "template" });
      await migrate({ DATABASE_URL: made });
      await client.query(`alter database "${new URL(made).pathname.slice(1)}" rename to "${name}"`);
    }
  } finally {
    await client.end();
  }
  const url = new URL(cluster);
  url.pathname = `/${name}`;
  return url.href;
}

/** Puts a SQLite file with every migration into a data directory, as the server creates it. */
export async function migratedSqlite(dataDir: string): Promise<void> {
  const kept = join(tmpdir(), `rmm-migrated-${run}.db`);
  if (!existsSync(kept)) {
    const made = mkdtempSync(join(tmpdir(), "rmm-migrate-"));
    await migrate({ RMM_DATA_DIR: made });
    // A concurrent process replaces the file with the same content.
    renameSync(join(made, "rmm.db"), kept);
    rmSync(made, { recursive: true });
  }
  mkdirSync(dataDir, { recursive: true });
  copyFileSync(kept, join(dataDir, "rmm.db"));
}

async function migrate(env: { DATABASE_URL: string } | { RMM_DATA_DIR: string }): Promise<void> {
  const dataDir = "RMM_DATA_DIR" in env ? env.RMM_DATA_DIR : mkdtempSync(join(tmpdir(), "rmm-migrate-"));
  const { store } = buildServices(readConfig({ RMM_DATA_DIR: dataDir, ...env }), { log: silentLog });
  await store.migrate();
  await store.close();
  if ("DATABASE_URL" in env) rmSync(dataDir, { recursive: true, force: true });
}
