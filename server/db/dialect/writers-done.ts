import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import type { Store } from "./index.ts";

const PAUSE_MS = 15;
const LIMIT_MS = 2_000;

/**
 * Resolves when every transaction that is writing now has ended, after two seconds at the latest. Rows stamped before
 * this moment are visible then, or never will be. SQLite's writers run one after the other, so a writer's turn means
 * that those before it have ended.
 */
export async function writersDone(store: Store): Promise<void> {
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
