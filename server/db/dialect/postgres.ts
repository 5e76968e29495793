import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from "kysely";
import pg from "pg";
import { migrate } from "../migrate.ts";
import { refuseInsideTransaction } from "../open-transaction.ts";
import { APP_ROLE } from "../row-level-security.ts";
import type { Database } from "../tables.ts";
import { encodeJson } from "./codec.ts";
import type { Store } from "./index.ts";

const { types } = pg;
const iso = (value: string) =>
  new Date(`${value.replace(" ", "T")}${/[+-]\d{2}$/.test(value) ? ":00" : ""}`).toISOString();
const parsers: Record<number, (value: string) => unknown> = {
  [types.builtins.TIMESTAMPTZ]: iso,
  [types.builtins.INT8]: Number,
  [types.builtins.NUMERIC]: Number,
  [types.builtins.BYTEA]: (value) => value.slice(2),
};

/** What features see is the same on both databases: ISO strings, plain numbers, hex for bytes. */
export const postgresTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: string) =>
    parsers[oid] ?? types.getTypeParser(oid, format as "text")) as typeof types.getTypeParser,
};

export interface PostgresOptions {
  url: string;
  poolSize?: number;
  onError?: (error: Error) => void;
}

type WalledClient = pg.PoolClient & { wall?: string };

/** Connects as a role that cannot get round row-level security; migrations use the URL's own role. */
export function openPostgres(options: PostgresOptions): Store {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize ?? 10,
    types: postgresTypes,
    application_name: "rmm",
    connectionTimeoutMillis: 10_000,
  });
  pool.on("error", (error) => options.onError?.(error));
  pool.on("connect", (client) => {
    client.on("error", (error) => options.onError?.(error));
    client.query(`set role ${APP_ROLE}`).catch((error) => options.onError?.(error));
  });
  const open = new Map<string, Kysely<Database>>();
  return {
    dialect: "postgres",
    file: undefined,
    url: options.url,
    connection(wall) {
      const known = open.get(wall);
      if (known) return known;
      const made = new Kysely<Database>({ dialect: new PostgresDialect({ pool: walled(pool, wall) }) });
      if (open.size > 2_000) open.clear();
      open.set(wall, made);
      return made;
    },
    migrate: () => migrateAsOwner(options.url),
    close: () => pool.end(),
  };
}

/** Hands out connections whose `rmm.scope` is the wanted wall; sets it only when the last user's differs. */
function walled(pool: pg.Pool, wall: string): PostgresPool {
  return {
    async connect() {
      refuseInsideTransaction();
      const client: WalledClient = await pool.connect();
      if (client.wall !== wall) {
        try {
          await client.query("select set_config('rmm.scope', $1, false)", [wall]);
        } catch (error) {
          client.release(error as Error);
          throw error;
        }
        client.wall = wall;
      }
      return adapt(client);
    },
    end: async () => undefined,
  };
}

const adapted = new WeakMap<WalledClient, PostgresPoolClient>();

function adapt(client: WalledClient): PostgresPoolClient {
  const known = adapted.get(client);
  if (known) return known;
  const made = {
    query: (text: unknown, values?: readonly unknown[]) =>
      // biome-ignore lint/suspicious/noExplicitAny: pg's overloads do not take the union Kysely passes
      (client.query as any)(text, values?.map(encodeJson)),
    release: () => client.release(),
  } as PostgresPoolClient;
  adapted.set(client, made);
  return made;
}

async function migrateAsOwner(url: string): Promise<string[]> {
  const pool = new pg.Pool({ connectionString: url, max: 2, types: postgresTypes, application_name: "rmm-migrate" });
  const owner = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  try {
    return await migrate(owner, "postgres");
  } finally {
    await owner.destroy();
  }
}
