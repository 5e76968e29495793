import { sql, type Transaction } from "kysely";
import type pg from "pg";
import type { ServerKey } from "../server-key.ts";
import type { Database } from "../tables.ts";

/** What the server knows of a connection that serves tenants; the session has the other half (migration "signed scope"). */
export interface ScopedConnection {
  readonly database: string;
  readonly pid: number;
  readonly key: ServerKey;
  /** Number that the next signature must be made over; undefined after an error, until the connection is opened again. */
  turn: string | undefined;
  /** The scope outside `system`, and when it was set. */
  wall: string;
  enteredMs: number;
}

/** The database ends a scope after five minutes; no statement of a request runs for three. */
const RENEW_MS = 120_000;

/** Brings a connection to `wall`. One that has it already is asked nothing until it must be renewed. */
export async function enterScope(
  client: pg.ClientBase,
  known: ScopedConnection | undefined,
  { wall, key }: { wall: string; key: ServerKey },
): Promise<ScopedConnection> {
  const nowMs = performance.now();
  const scoped = known?.turn === undefined ? await openScoped(client, key) : known;
  if (scoped.wall === wall && (wall === "none" || nowMs - scoped.enteredMs < RENEW_MS)) return scoped;
  await enter(client, scoped, wall);
  scoped.wall = wall;
  scoped.enteredMs = nowMs;
  return scoped;
}

async function openScoped(client: pg.ClientBase, key: ServerKey): Promise<ScopedConnection> {
  const { rows } = await client.query<{ database: string; pid: number; turn: string }>(
    "select database, pid, turn::text from rmm_open_connection()",
  );
  const [row] = rows;
  if (!row) throw new Error("the database opened no connection for scopes");
  return { ...row, key, wall: "none", enteredMs: 0 };
}

/** A turn counts once, also in a transaction that is rolled back; so after an error it is not known which is next. */
async function enter(client: pg.ClientBase, scoped: ScopedConnection, wall: string): Promise<void> {
  const { turn, pid, database, key } = scoped;
  scoped.turn = undefined;
  const { rows } = await client.query<{ turn: string }>({
    name: "rmm_enter",
    text: "select rmm_enter($1, $2, $3)::text as turn",
    values: [wall, key.id, key.sign(["rmm-scope", wall, pid, turn, database].join(" "))],
  });
  scoped.turn = rows[0]?.turn;
}

/** The database does not believe the connection's scope (28000): its clock was set, or somebody has been there. */
export function distrust(error: unknown, scoped: ScopedConnection | undefined): void {
  if (scoped && (error as { code?: string }).code === "28000") scoped.turn = undefined;
}

const LIFT = "select rmm_enter('system')";
const LOWER = "select rmm_leave()";

/** Lifts the scope of a tenant's connection until `lowerScope`, or the end of the transaction at the latest. */
export const liftScope = async (tx: Transaction<Database>): Promise<void> => void (await sql.raw(LIFT).execute(tx));

export const lowerScope = async (tx: Transaction<Database>): Promise<void> => void (await sql.raw(LOWER).execute(tx));

/** Runs `liftScope` on its connection, which alone can sign; false = another statement. */
export async function ranLift(text: string, client: pg.ClientBase, scoped: ScopedConnection | undefined) {
  if (text !== LIFT) return false;
  if (!scoped) throw new Error("a connection of the system has no scope to lift");
  await enter(client, scoped, "system");
  return true;
}
