import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import type { Store } from "./index.ts";

const PAUSE_MS = 15;
const LIMIT_MS = 2_000;

/**
 * The current time of the database's clock, once every transaction that was writing then has ended, after two seconds
 * at the latest. What triggers stamped by this moment is visible then, or never will be, and everything later is
 * stamped later: not in the same millisecond either.
 */
export async function settledMoment(store: Store): Promise<string> {
  const moment = await clockOf(store);
  while ((await clockOf(store)) <= moment) await pause(1);
  await writersDone(store);
  return moment;
}

async function clockOf(store: Store): Promise<string> {
  const now =
    store.dialect === "sqlite"
      ? sql<{ now: string }>`select strftime('%Y-%m-%dT%H:%M:%fZ', 'now') as now`
      : sql<{ now: string }>`select clock_timestamp()::timestamptz(3) as now`;
  const { rows } = await now.execute(store.connection("system"));
  return rows[0]?.now as string;
}

/** SQLite's writers run one after the other, so a writer's turn means that those before it have ended. */
async function writersDone(store: Store): Promise<void> {
  const db = store.connection("system");
  if (store.dialect === "sqlite") return db.transaction().execute(async () => undefined);
  const started = await sql<{ next: string }>`select pg_snapshot_xmax(pg_current_snapshot())::text as next`.execute(db);
  const next = started.rows[0]?.next;
  const endMs = performance.now() + LIMIT_MS;
  while (performance.now() < endMs) {
    const { rows } = await sql<{ done: boolean }>`
      select pg_snapshot_xmin(pg_current_snapshot()) >= ${next}::xid8 as done`.execute(db);
    if (rows[0]?.done) return;
    await pause(PAUSE_MS);
  }
}
