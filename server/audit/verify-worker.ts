import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { openSqliteFile } from "../db/dialect/sqlite-library.ts";
import { readStatements } from "./anchor-file.ts";
import type { ChainStatement } from "./anchor-format.ts";
import { resting } from "./busy.ts";
import type { ChainRef } from "./chain.ts";
import type { ChainSource, ChainVisitor } from "./chain-source.ts";
import { sqliteChainSource } from "./sqlite-source.ts";
import { verifyChain } from "./verify.ts";
import type { VerifyJob, VerifyOptions, VerifyOutcome, VerifyPost } from "./verify-in-worker.ts";

/** For so many chains the anchor file is read once: what it says of them is held in memory meanwhile. */
const CHAINS_AT_ONCE = 250;

/** Body of the thread: verifies the chains it was given one after the other and posts each result. */
async function main({ options, chains, memory }: VerifyJob): Promise<void> {
  for (let at = 0; at < chains.length; at += CHAINS_AT_ONCE) {
    const some = chains.slice(at, at + CHAINS_AT_ONCE);
    // Before any snapshot: an anchor taken after it may point beyond it.
    const { outside, fileError } = await outsideOf(options.anchorFile, some);
    for (const chain of some) {
      const outcome = await verifyOne(options, chain, { outside: outside(chain), rest: resting(memory) });
      parentPort?.postMessage({ ...outcome, fileError } satisfies VerifyPost);
    }
  }
}

interface Turn {
  readonly outside: ChainStatement[];
  /** Called at every piece of work. */
  rest(): void;
}

async function verifyOne(options: VerifyOptions, chain: ChainRef, { outside, rest }: Turn): Promise<VerifyOutcome> {
  try {
    const opened = await openSource(options.database, chain);
    const source = { ...opened, walk: (visitor: ChainVisitor) => opened.walk(rested(visitor, rest)) };
    try {
      return { chain, result: await verifyChain(source, { publicKeys: options.publicKeys ?? [], outside }) };
    } finally {
      await source.close();
    }
  } catch (error) {
    return { chain, error: (error as Error).message };
  }
}

/** Rests at entries: a database that is not read from rests as well, once it has filled what lies between. */
const rested = (visitor: ChainVisitor, rest: () => void): ChainVisitor => ({
  ...visitor,
  link(link) {
    rest();
    visitor.link(link);
  },
  row(entry, hash, intact) {
    rest();
    visitor.row(entry, hash, intact);
  },
  unsealedRow(auditId) {
    rest();
    visitor.unsealedRow(auditId);
  },
  missingRow(chainSeq, auditId) {
    rest();
    visitor.missingRow(chainSeq, auditId);
  },
});

/** A file that cannot be read at the moment costs its evidence, not the verdict on what the database holds. */
async function outsideOf(path: string | undefined, chains: ChainRef[]) {
  const nothing = () => [];
  if (path === undefined) return { outside: nothing, fileError: undefined };
  try {
    return { outside: await readStatements(path, chains), fileError: undefined };
  } catch (error) {
    return { outside: nothing, fileError: (error as Error).message };
  }
}

async function openSource(database: VerifyOptions["database"], chain: ChainRef): Promise<ChainSource> {
  if ("url" in database) {
    const { postgresChainSource } = await import("./postgres-source.ts");
    return postgresChainSource(database.url, chain);
  }
  const db = openSqliteFile(database.file, { readonly: true, fileMustExist: true, timeout: 10_000 });
  const source = sqliteChainSource(db, chain);
  return { ...source, close: () => source.close().finally(() => db.close()) };
}

/**
 * Requests go first: where both want a core, the thread takes what they leave. On Linux the priority is of this thread
 * alone; elsewhere it would be the whole process's, and stays.
 */
if (process.platform === "linux") setPriority(10);

parentPort?.on("message", main);
