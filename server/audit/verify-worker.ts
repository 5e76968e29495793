import { parentPort, workerData } from "node:worker_threads";
import { openSqliteFile } from "../db/dialect/sqlite-library.ts";
import { readAnchors } from "./anchor-file.ts";
import type { ChainRef } from "./chain.ts";
import type { ChainSource } from "./chain-source.ts";
import { postgresChainSource } from "./postgres-source.ts";
import { sqliteChainSource } from "./sqlite-source.ts";
import { verifyChain } from "./verify.ts";
import type { VerifyOptions } from "./verify-in-worker.ts";

/** Body of the thread: verifies the chains it was given one after the other and posts each result. */
async function main({ options, chains }: { options: VerifyOptions; chains: ChainRef[] }): Promise<void> {
  for (const chain of chains) {
    // Before the snapshot: an anchor taken after it may point beyond it.
    const outsideAnchors = options.anchorFile ? await readAnchors(options.anchorFile, chain) : [];
    const source = await openSource(options.database, chain);
    try {
      parentPort?.postMessage(await verifyChain(source, { publicKeys: options.publicKeys ?? [], outsideAnchors }));
    } finally {
      await source.close();
    }
  }
}

async function openSource(database: VerifyOptions["database"], chain: ChainRef): Promise<ChainSource> {
  if ("url" in database) return postgresChainSource(database.url, chain);
  const db = openSqliteFile(database.file, { readonly: true, fileMustExist: true, timeout: 10_000 });
  const source = sqliteChainSource(db, chain);
  return { ...source, close: () => source.close().finally(() => db.close()) };
}

if (parentPort) await main(workerData);
