import type { Kysely, PostgresPool } from "kysely";
import pg from "pg";
import { migrations } from "../../generated/migrations.ts";
import { migrate } from "../migrate.ts";
import type { ServerKey } from "../server-key.ts";
import type { Database } from "../tables.ts";
import { postgresTypes } from "./postgres-pool.ts";

/**
 * Brings the schema up to date and makes the database trust the server's key, as the owner of the tables. A login that
 * owns nothing may start a server once the owner has done both.
 */
export async function migratePostgres(
  url: string,
  handleOn: (pool: PostgresPool) => Kysely<Database>,
  key: ServerKey,
): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, application_name: "rmm-migrate" });
  await client.connect();
  try {
    const applied = (await isUpToDate(client)) ? [] : await migrateAsOwner(url, handleOn);
    await trustKey(client, key);
    return applied;
  } finally {
    await client.end();
  }
}

async function isUpToDate(client: pg.Client): Promise<boolean> {
  try {
    const { rows } = await client.query<{ name: string }>("select name from kysely_migration");
    return migrations.every((change) => rows.some((row) => row.name === change.name));
  } catch (error) {
    // 42P01: the first start on an empty database.
    if ((error as { code?: string }).code === "42P01") return false;
    throw error;
  }
}

async function migrateAsOwner(url: string, handleOn: (pool: PostgresPool) => Kysely<Database>): Promise<string[]> {
  const pool = new pg.Pool({ connectionString: url, max: 2, types: postgresTypes, application_name: "rmm-migrate" });
  const owner = handleOn(pool);
  try {
    return await migrate(owner, "postgres");
  } finally {
    await owner.destroy();
  }
}

/** The newest key and the one before it count: servers that still run with the old one are not cut off by the first new one. */
async function trustKey(client: pg.Client, { id, pads }: ServerKey): Promise<void> {
  const { rows } = await client.query<{ owner: boolean; known: boolean }>(
    "select has_schema_privilege('rmm_private', 'usage') as owner, rmm_knows_key($1) as known",
    [id],
  );
  if (!rows[0]?.owner) {
    if (rows[0]?.known) return;
    throw new Error(
      "the database does not know the key of this server: run `rmm server migrate` as the owner of its tables, with the same SECRET_ENCRYPTION_KEY",
    );
  }
  await client.query(
    `insert into rmm_private.scope_keys (id, inner_pad, outer_pad, installed_at) values ($1, $2, $3, clock_timestamp())
     on conflict (id) do update set installed_at = excluded.installed_at`,
    [id, pads.inner, pads.outer],
  );
  await client.query(
    "delete from rmm_private.scope_keys where id not in (select id from rmm_private.scope_keys order by installed_at desc limit 2)",
  );
}
