import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, type QueryCompiler } from "kysely";
import pg from "pg";
import { migrations } from "../../generated/migrations.ts";
import { migrate } from "../migrate.ts";
import { type Row, rowsOf } from "../naming.ts";
import { refuseInsideTransaction } from "../open-transaction.ts";
import { APP_ROLE } from "../row-level-security.ts";
import type { Database } from "../tables.ts";
import { encodeJson } from "./codec.ts";
import { SnakeCasePostgresCompiler } from "./compilers.ts";
import type { Store } from "./index.ts";

const { types } = pg;

/** `2026-11-28 03:12:18.5+00` as `2026-11-28T03:12:18.500Z`. Connections are set to UTC; whatever else comes is converted. */
function iso(value: string): string {
  if (value.charAt(10) === " " && value.endsWith("+00")) {
    const time = value.slice(11, -3);
    return `${value.slice(0, 10)}T${time.length === 8 ? `${time}.000` : time.padEnd(12, "0")}Z`;
  }
  return new Date(`${value.replace(" ", "T")}${/[+-]\d{2}$/.test(value) ? ":00" : ""}`).toISOString();
}

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
  watch?: boolean;
}

class SnakeCaseDialect extends PostgresDialect {
  override createQueryCompiler(): QueryCompiler {
    return new SnakeCasePostgresCompiler();
  }
}

type WalledClient = pg.PoolClient & { wall?: string };

/**
 * Connects as a role that cannot get round row-level security; migrations use the URL's own role.
 * System work has connections of its own, so that a request's look-up of its caller does not move the
 * wall of a connection that serves tenants.
 */
export function openPostgres(options: PostgresOptions): Store {
  const size = options.poolSize ?? 10;
  const tenants = connect(options, size);
  const system = connect(options, Math.max(2, Math.ceil(size / 2)));
  const hasty = connect(options, Math.max(2, Math.ceil(size / 4)), "-c synchronous_commit=off");
  const open = new Map<string, Kysely<Database>>();
  const watch = options.watch ?? true;
  return {
    dialect: "postgres",
    watched: watch,
    file: undefined,
    url: options.url,
    connection(wall) {
      const known = open.get(wall);
      if (known) return known;
      const pool = walled(wall === "system" ? system : tenants, wall, { watch });
      const made = new Kysely<Database>({ dialect: new SnakeCaseDialect({ pool }) });
      if (open.size > 2_000) open.clear();
      open.set(wall, made);
      return made;
    },
    volatile: new Kysely<Database>({
      dialect: new SnakeCaseDialect({ pool: walled(hasty, "system", { watch: false }) }),
    }),
    migrate: () => migrateAsOwner(options.url),
    close: async () => void (await Promise.all([tenants.end(), system.end(), hasty.end()])),
  };
}

function connect({ url, onError }: PostgresOptions, max: number, settings = ""): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    types: postgresTypes,
    application_name: "rmm",
    connectionTimeoutMillis: 10_000,
    // Policies make planning dearer than most queries; named statements are planned once a connection.
    options: `-c plan_cache_mode=force_generic_plan -c timezone=UTC ${settings}`.trim(),
  });
  pool.on("error", (error) => onError?.(error));
  pool.on("connect", (client) => {
    client.on("error", (error) => onError?.(error));
  });
  return pool;
}

/** Hands out connections whose `rmm.scope` is the wanted wall; sets it only when the last user's differs. */
function walled(pool: pg.Pool, wall: string, { watch }: { watch: boolean }): PostgresPool {
  return {
    async connect() {
      if (watch) refuseInsideTransaction();
      const client: WalledClient = await pool.connect();
      if (client.wall !== wall) {
        try {
          // A new connection has the login's own rights until this: one that cannot give them up is closed, never lent.
          if (client.wall === undefined) await client.query(`set role ${APP_ROLE}`);
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
    query: async (text: string, values: readonly unknown[] = []) => {
      const known = statement(text);
      const result = await client.query<unknown[]>({ ...known, values: values.map(encodeJson), rowMode: "array" });
      return { ...result, rows: named(result, known.name) };
    },
    release: () => client.release(),
  } as unknown as PostgresPoolClient;
  adapted.set(client, made);
  return made;
}

const makers = new Map<string, ReturnType<typeof rowsOf>>();

/** The driver's values as rows under the names that code uses. */
function named({ rows, fields }: pg.QueryArrayResult<unknown[]>, statementName: string | undefined): Row[] {
  if (rows.length === 0) return [];
  let rowOf = statementName === undefined ? undefined : makers.get(statementName);
  if (!rowOf) {
    rowOf = rowsOf(fields.map(({ name }) => name));
    if (statementName !== undefined) makers.set(statementName, rowOf);
  }
  return rows.map(rowOf);
}

const statements = new Map<string, { text: string; name: string }>();
const STATEMENTS_MAX = 1_000;

/** Fails on a connection that knows the statement, once another replica's migration has added a column. */
const WHOLE_ROWS = /^select (\S+\.)?\*|returning \*$/;

/** Statements that come again are parsed and planned once a connection. What is built from lists of any length is not kept. */
function statement(text: string): { text: string; name?: string } {
  const known = statements.get(text);
  if (known) return known;
  if (statements.size >= STATEMENTS_MAX || !/^\s*(select|insert|update|delete|with) /.test(text)) return { text };
  if (WHOLE_ROWS.test(text)) return { text };
  const made = { text, name: `rmm_${statements.size}` };
  statements.set(text, made);
  return made;
}

async function migrateAsOwner(url: string): Promise<string[]> {
  // A login that owns nothing may start a server once the owner has migrated.
  if (await isUpToDate(url)) return [];
  const pool = new pg.Pool({ connectionString: url, max: 2, types: postgresTypes, application_name: "rmm-migrate" });
  const owner = new Kysely<Database>({ dialect: new SnakeCaseDialect({ pool }) });
  try {
    return await migrate(owner, "postgres");
  } finally {
    await owner.destroy();
  }
}

async function isUpToDate(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, application_name: "rmm-migrate" });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>("select name from kysely_migration");
    return migrations.every((change) => rows.some((row) => row.name === change.name));
  } catch (error) {
    // 42P01: the first start on an empty database.
    if ((error as { code?: string }).code === "42P01") return false;
    throw error;
  } finally {
    await client.end();
  }
}
