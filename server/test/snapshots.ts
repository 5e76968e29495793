import pg from "pg";
import type { Store } from "#server/db/dialect/index";
import { openSqliteFile } from "#server/db/dialect/sqlite-library";

/** Whether a verification holds a snapshot of the database, as the database tells it. */
export async function holdsSnapshot({ file, url }: Pick<Store, "file" | "url">): Promise<boolean> {
  return file === undefined ? (await connections(url as string, "")) > 0 : holdsLog(file);
}

/** Whether a verification waits for a lock, on Postgres. */
export const waitsForLock = async (url: string): Promise<boolean> =>
  (await connections(url, "and wait_event_type = 'Lock'")) > 0;

/** Over a connection of its own: inside one transaction the answer stays what it was. */
async function connections(url: string, which: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query(
      `select 1 from pg_stat_activity
       where datname = current_database() and application_name = 'rmm-audit-verify' ${which}`,
    );
    return rowCount ?? 0;
  } finally {
    await client.end();
  }
}

/** What is written after a snapshot stays in the log of the file while somebody holds that snapshot. */
function holdsLog(file: string): boolean {
  // Who waited here would stop the server of this process, which may be writing.
  const db = openSqliteFile(file, { timeout: 0 });
  try {
    db.exec("create table if not exists looked (at text); insert into looked values ('now')");
    const [{ log, checkpointed }] = db.pragma("wal_checkpoint(passive)") as [{ log: number; checkpointed: number }];
    return checkpointed < log;
  } finally {
    db.close();
  }
}
