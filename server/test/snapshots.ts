import pg from "pg";
import { openSqliteFile } from "#server/db/dialect/sqlite-library";
import type { Store } from "#server/db/dialect/index";

/** Whether a verification holds a snapshot of the database, as the database tells it. */
export async function holdsSnapshot({ file, url }: Pick<Store, "file" | "url">): Promise<boolean> {
  return file === undefined ? (await connections(url as string)) > 0 : holdsLog(file);
}

async function connections(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query(
      "select 1 from pg_stat_activity where datname = current_database() and application_name = 'rmm-audit-verify'",
    );
    return rowCount ?? 0;
  } finally {
    await client.end();
  }
}

/** What is written after a snapshot stays in the log of the file while somebody holds that snapshot. */
function holdsLog(file: string): boolean {
  const db = openSqliteFile(file, { timeout: 10_000 });
  try {
    db.exec("create table if not exists looked (at text); insert into looked values ('now')");
    const [{ log, checkpointed }] = db.pragma("wal_checkpoint(passive)") as [{ log: number; checkpointed: number }];
    return checkpointed < log;
  } finally {
    db.close();
  }
}
