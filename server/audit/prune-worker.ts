import { parentPort } from "node:worker_threads";
import pg from "pg";
import { openSqliteFile } from "../db/dialect/sqlite-library.ts";
import { serverKey } from "../db/server-key.ts";
import type { PruneRecord } from "./anchor-format.ts";
import { type AnchorSigner, anchorSigner } from "./anchor-signing.ts";
import type { ChainRef } from "./chain.ts";
import { type PrunableChain, pruneChain, restatePrune, type UnsignedPrune } from "./prune-chain.ts";
import { postgresUnsignedPrunes, withPostgresChain } from "./prune-postgres.ts";
import { sqliteUnsignedPrunes, withSqliteChain } from "./prune-sqlite.ts";
import { type PruneDatabase, type PruneJob, type PruneOutcome, pruneAll } from "./retention.ts";
import { registerAuditFunctions } from "./sqlite-functions.ts";

/** A connection that may remove audit rows. */
interface PruneConnection {
  withChain<R>(chain: ChainRef, work: (prunable: PrunableChain) => Promise<R>): Promise<R>;
  unsigned(): Promise<{ chain: ChainRef; unsigned: UnsignedPrune }[]>;
  close(): Promise<void>;
}

/** Body of the retention thread: the one place that opens such a connection. */
async function main(job: PruneJob): Promise<void> {
  const { database, signingKey } = job.setup;
  const signer = signingKey === undefined ? undefined : anchorSigner(signingKey);
  const connection = await connect(database);
  try {
    if ("restate" in job) parentPort?.postMessage(await restate(connection, signer));
    else
      for (const task of job.tasks) {
        const once = () => connection.withChain(task.chain, (chain) => pruneChain(chain, task, signer));
        parentPort?.postMessage(await pruneAll(task.chain, once).catch(failed(task.chain)));
      }
  } finally {
    await connection.close();
  }
}

/** One chain that cannot be pruned keeps no other from it. */
const failed =
  (chain: ChainRef) =>
  (error: unknown): PruneOutcome => ({
    ...{ chain, records: [], stop: null },
    error: (error as Error).message,
  });

async function restate(connection: PruneConnection, signer: AnchorSigner | undefined): Promise<PruneRecord[]> {
  const records: PruneRecord[] = [];
  for (const { chain, unsigned } of await connection.unsigned()) {
    const record = await connection.withChain(chain, (prunable) => restatePrune(prunable, chain, unsigned, signer));
    if (record) records.push(record);
  }
  return records;
}

async function connect(database: PruneDatabase): Promise<PruneConnection> {
  if ("url" in database) {
    const client = new pg.Client({ connectionString: database.url, application_name: "rmm-audit-retention" });
    await client.connect();
    const key = serverKey(database.encryptionKey);
    return {
      withChain: (chain, work) => withPostgresChain(client, { chain, key }, work),
      unsigned: () => postgresUnsignedPrunes(client),
      close: () => client.end(),
    };
  }
  const db = openSqliteFile(database.file, { fileMustExist: true, timeout: 30_000 });
  registerAuditFunctions(db, { mayPrune: true });
  return {
    withChain: (chain, work) => withSqliteChain(db, chain, work),
    unsigned: async () => sqliteUnsignedPrunes(db),
    close: async () => void db.close(),
  };
}

parentPort?.once("message", main);
