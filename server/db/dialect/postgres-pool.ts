import type { PostgresPool, PostgresPoolClient } from "kysely";
import pg from "pg";
import { type Row, rowsOf } from "../naming.ts";
import { refuseInsideTransaction } from "../open-transaction.ts";
import { APP_ROLE, SYSTEM_ROLE } from "../roles.ts";
import type { ServerKey } from "../server-key.ts";
import type { StoppableClient } from "./bounded-read.ts";
import { encodeJson } from "./codec.ts";
import { distrust, enterScope, ranLift, type ScopedConnection } from "./postgres-scope.ts";
import { stopStatement } from "./postgres-stop.ts";

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

export interface PoolOptions {
  url: string;
  max: number;
  settings?: string;
  onError: ((error: Error) => void) | undefined;
}

export function connect({ url, max, settings = "", onError }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    types: postgresTypes,
    pipeline: true,
    application_name: "rmm",
    connectionTimeoutMillis: 10_000,
    // Policies make planning dearer than most queries; named statements are planned once a connection.
    options: `-c plan_cache_mode=force_generic_plan -c jit=off -c timezone=UTC ${settings}`.trim(),
  });
  pool.on("error", (error) => onError?.(error));
  pool.on("connect", (client) => {
    client.on("error", (error) => onError?.(error));
  });
  return pool;
}

/** `pid`: of its own process, also behind a pooler, which tells numbers of its own. */
type ServerClient = pg.PoolClient & { role?: string; pid?: number; scoped?: ScopedConnection };

/** Hands out connections for the installation's own work: the role sees every row. */
export function systemPool(pool: pg.Pool, { watch }: { watch: boolean }): PostgresPool {
  return lending(pool, { watch, role: SYSTEM_ROLE, prepare: async () => undefined });
}

/** Hands out connections whose scope is `wall`; it is set only when the last user's differed. */
export function tenantPool(
  pool: pg.Pool,
  { watch, wall, key }: { watch: boolean; wall: string; key: ServerKey },
): PostgresPool {
  const prepare = async (client: ServerClient) => {
    client.scoped = await enterScope(client, client.scoped, { wall, key });
  };
  return lending(pool, { watch, role: APP_ROLE, prepare });
}

interface Lending {
  watch: boolean;
  role: string;
  prepare(client: ServerClient): Promise<void>;
}

function lending(pool: pg.Pool, { watch, role, prepare }: Lending): PostgresPool {
  return {
    async connect() {
      if (watch) refuseInsideTransaction();
      const client: ServerClient = await pool.connect();
      try {
        // A new connection has the login's own rights until this: one that cannot give them up is closed, never lent.
        if (client.role === undefined) await takeRole(client, role);
        await prepare(client);
      } catch (error) {
        client.release(error as Error);
        throw error;
      }
      return adapt(client, pool);
    },
    end: async () => undefined,
  };
}

async function takeRole(client: ServerClient, role: string): Promise<void> {
  try {
    const pid = client.query<{ pid: number }>("select pg_backend_pid() as pid");
    pid.catch(() => undefined);
    await client.query(`set role ${role}`);
    client.pid = (await pid).rows[0]?.pid;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "22023") throw new Error(`there is no role ${role}: run \`rmm server migrate\``, { cause: error });
    if (code !== "42501") throw error;
    const setting = role === SYSTEM_ROLE ? "SYSTEM_DATABASE_URL (or of DATABASE_URL without it)" : "DATABASE_URL";
    throw new Error(`the login of ${setting} is not a member of ${role}`, { cause: error });
  }
  client.role = role;
}

const adapted = new WeakMap<ServerClient, PostgresPoolClient>();

function adapt(client: ServerClient, pool: pg.Pool): PostgresPoolClient {
  const known = adapted.get(client);
  if (known) return known;
  const run = async (known: { text: string; name?: string }, values: readonly unknown[]) => {
    try {
      const result = await client.query<unknown[]>({ ...known, values: values.map(encodeJson), rowMode: "array" });
      // Several statements at once, which set something, have a result each.
      return Array.isArray(result) ? { command: "SET", rows: [] } : { ...result, rows: named(result, known.name) };
    } catch (error) {
      distrust(error, client.scoped);
      throw error;
    }
  };
  // One way for both: what is asked first is sent first, as a limit before the read that it is for.
  const send = async (known: { text: string; name?: string }, values: readonly unknown[]) =>
    (await ranLift(known.text, client, client.scoped)) ? { command: "SELECT", rows: [] } : run(known, values);
  const made = {
    query: (text: string, values: readonly unknown[] = []) => send(statement(text), values),
    queryOnce: (text: string, values: readonly unknown[]) => send({ text }, values),
    stop: () => stopStatement(client.pid, pool),
    release: (destroy?: boolean) => client.release(destroy),
  } as unknown as StoppableClient;
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
