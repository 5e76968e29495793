import type { PostgresPool, PostgresPoolClient } from "kysely";
import type { SingleRead } from "./single-read.ts";

/** So long reads join a connection: its scope must be renewed now and then, and others wait for connections too. */
const JOIN_MS = 200;

/** A connection that reads share; it is given back after the last of them. */
interface Shared {
  readonly client: Promise<PostgresPoolClient>;
  readonly sinceMs: number;
  reads: number;
}

/**
 * Reads of one scope follow each other on one connection without waiting for answers. Each is a transaction of its own
 * that begins after it was asked for. A connection for each would be a change of process for every read.
 */
export function pipelinedReads(pool: PostgresPool): SingleRead {
  let newest: Shared | undefined;

  function join(): Shared {
    const nowMs = performance.now();
    if (newest === undefined || nowMs - newest.sinceMs > JOIN_MS)
      newest = { client: pool.connect(), sinceMs: nowMs, reads: 0 };
    newest.reads += 1;
    return newest;
  }

  async function leave(shared: Shared): Promise<void> {
    shared.reads -= 1;
    if (shared.reads > 0) return;
    if (newest === shared) newest = undefined;
    await shared.client.then(
      (client) => client.release(),
      // Whoever waited for it was told.
      () => undefined,
    );
  }

  return async (sql, parameters) => {
    const shared = join();
    try {
      const client = await shared.client;
      return (await client.query<never>(sql, parameters)).rows;
    } catch (error) {
      // What failed may be the connection: the next reads take another.
      if (newest === shared) newest = undefined;
      throw error;
    } finally {
      await leave(shared);
    }
  };
}
