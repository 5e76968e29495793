import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { createDatabase, postgresUrl } from "#fixtures/postgres";
import { buildServices } from "#server/app";
import { readConfig } from "#server/config";
import { heldClock } from "#server/platform/clock";
import { silentLog } from "#server/platform/log";
import type { Services } from "#server/services";

/** The time at which every test begins. */
export const START = "2026-03-02T09:00:00.000Z";

/** What a database holds besides every migration. It is made once in a run, and tests get copies. */
export interface Template {
  readonly name: string;
  /** Resolves to what must be known of it: JSON. */
  fill(services: Services): Promise<object>;
}

const migrated: Template = { name: "migrated", fill: async () => ({}) };

/** Names what the test files of one run share; set by `global-postgres.ts`, else by this process. */
const run = process.env["RMM_TEST_RUN"] ?? `${process.pid}`;
/** Where a template is kept: the file of SQLite, and what must be known of it. */
const folderOf = (name: string) => join(tmpdir(), `rmm-templates-${run}`, name);

const knowledgeIn = (folder: string) => join(folder, "known.json");

/** URL of a new Postgres database, and what its template told of it. */
export async function copiedPostgres(template: Template = migrated): Promise<{ url: string; known: object }> {
  const made = templates.get(template.name) ?? postgresTemplate(template);
  templates.set(template.name, made);
  return { url: await createDatabase({ template: await made }), known: knownOf(`${template.name}-postgres`) };
}

const templates = new Map<string, Promise<string>>();

/** URL of a new Postgres database with every migration. */
export const migratedPostgres = async (): Promise<string> => (await copiedPostgres()).url;

/** Renamed when complete, under a lock, so that test files that start together make only one. */
async function postgresTemplate(template: Template): Promise<string> {
  const cluster = await postgresUrl();
  const name = `${template.name}_${run}`;
  const client = new pg.Client({ connectionString: cluster });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock(hashtext($1))", [name]);
    const { rowCount } = await client.query("select 1 from pg_database where datname = $1", [name]);
    if (rowCount === 0) {
      const url =
        template === migrated ? await createDatabase({ label: "template" }) : (await copiedPostgres(migrated)).url;
      const folder = folderOf(`${template.name}-postgres`);
      mkdirSync(folder, { recursive: true });
      await fill(template, { DATABASE_URL: url }, folder);
      await client.query(`alter database "${new URL(url).pathname.slice(1)}" rename to "${name}"`);
    }
  } finally {
    await client.end();
  }
  const url = new URL(cluster);
  url.pathname = `/${name}`;
  return url.href;
}

/** Puts a SQLite file into a data directory, as the server creates it; returns what its template told of it. */
export async function copiedSqlite(dataDir: string, template: Template = migrated): Promise<object> {
  const kept = folderOf(`${template.name}-sqlite`);
  if (!existsSync(kept)) await sqliteTemplate(template, kept);
  mkdirSync(dataDir, { recursive: true });
  copyFileSync(join(kept, "rmm.db"), join(dataDir, "rmm.db"));
  return knownOf(`${template.name}-sqlite`);
}

/** Puts a SQLite file with every migration into a data directory. */
export const migratedSqlite = async (dataDir: string): Promise<void> => void (await copiedSqlite(dataDir));

/** The first of two processes that make it at once keeps its own. */
async function sqliteTemplate(template: Template, kept: string): Promise<void> {
  const made = mkdtempSync(join(tmpdir(), "rmm-template-"));
  if (template !== migrated) await copiedSqlite(made, migrated);
  await fill(template, { RMM_DATA_DIR: made }, made);
  mkdirSync(join(kept, ".."), { recursive: true });
  try {
    renameSync(made, kept);
  } catch (error) {
    rmSync(made, { recursive: true });
    if (!existsSync(kept)) throw error;
  }
}

const knownOf = (kept: string): object => JSON.parse(readFileSync(knowledgeIn(folderOf(kept)), "utf8")) as object;

async function fill(template: Template, env: { DATABASE_URL?: string; RMM_DATA_DIR?: string }, folder: string) {
  const dataDir = mkdtempSync(join(tmpdir(), "rmm-migrate-"));
  const config = readConfig({ RMM_DATA_DIR: dataDir, ...env });
  // Before anything that a test makes: its ids come first too.
  const clock = heldClock(new Date(Date.parse(START) - 1).toISOString());
  const services = buildServices(config, { clock, log: silentLog });
  try {
    await services.store.migrate();
    writeFileSync(knowledgeIn(folder), JSON.stringify(await template.fill(services)));
  } finally {
    await services.store.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
