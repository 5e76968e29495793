import { parentPort, workerData } from "node:worker_threads";
import pg from "pg";
import { openSqliteFile } from "../db/dialect/sqlite-library.ts";
import { type PruneDatabase, type PruneTask, prunePostgresChain, pruneSqliteChain } from "./retention.ts";
import { registerAuditFunctions } from "./sqlite-functions.ts";

/** Body of the retention thread: the one place that opens a connection which may remove audit rows. */
async function main({ database, tasks }: { database: PruneDatabase; tasks: PruneTask[] }): Promise<void> {
  if ("url" in database) {
    const client = new pg.Client({ connectionString: database.url, application_name: "rmm-audit-retention" });
    await client.connect();
    try {
      for (const task of tasks) parentPort?.postMessage(await prunePostgresChain(client, task));
    } finally {
      await client.end();
    }
    return;
  }
  const db = openSqliteFile(database.file, { fileMustExist: true, timeout: 30_000 });
  registerAuditFunctions(db, { mayPrune: true });
  try {
    for (const task of tasks) parentPort?.postMessage(pruneSqliteChain(db, task));
  } finally {
    db.close();
  }
}

if (parentPort) await main(workerData);
