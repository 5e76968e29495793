import type { DialectAdapter, Kysely, PostgresPool, PostgresPoolClient } from "kysely";
import type { Row } from "../naming.ts";
import { type ReadBounds, ReadGivenUp } from "../read-bounds.ts";
import type { Database } from "../tables.ts";

/** Runs a statement outside any transaction, for as long as its bounds allow. */
export type BoundedRead = (sql: string, parameters: readonly unknown[], bounds: ReadBounds) => Promise<Row[]>;

const reads = new WeakMap<DialectAdapter, BoundedRead>();

export function withBoundedReads<A extends DialectAdapter>(adapter: A, read: BoundedRead): A {
  reads.set(adapter, read);
  return adapter;
}

/** Undefined within a transaction, whose reads stay in it. */
export const boundedReadOf = (db: Kysely<Database>): BoundedRead | undefined =>
  db.isTransaction ? undefined : reads.get(db.getExecutor().adapter);

/** A connection that can be told to give up what it runs, from another one; resolves once its process was told. */
export interface StoppableClient extends PostgresPoolClient {
  stop(): Promise<void>;
  /** Closed where it may not be lent again. */
  release(destroy?: boolean): void;
}

/**
 * The limit is the database's own. All three statements are sent at once, so that it costs no trip. What nobody waits for
 * any more is ended.
 */
export function boundedPostgresReads(pool: PostgresPool): BoundedRead {
  return async (sql, parameters, bounds) => {
    const { untilMs, gone } = bounds;
    const client = (await pool.connect()) as StoppableClient;
    let stopped: Promise<void> | undefined;
    let broken = false;
    const stop = () => {
      stopped ??= client.stop().catch(() => undefined);
    };
    try {
      if (untilMs === undefined) return (await client.query<Row>(sql, parameters)).rows as Row[];
      if (gone.aborted) throw new ReadGivenUp("RMM_READ_LEFT");
      const leftMs = Math.ceil(untilMs - performance.now());
      if (leftMs <= 0) throw new ReadGivenUp("RMM_READ_LATE");
      gone.addEventListener("abort", stop, { once: true });
      const [set, read, reset] = await Promise.allSettled([
        client.query(`set statement_timeout = ${leftMs}`, []),
        client.query<Row>(sql, parameters),
        client.query("reset statement_timeout", []),
      ]);
      gone.removeEventListener("abort", stop);
      if (stopped) {
        broken = !(await isUntouched(client, stopped));
        throw new ReadGivenUp("RMM_READ_LEFT");
      }
      for (const one of [set, read, reset]) if (one.status === "rejected") throw one.reason;
      return (read as PromiseFulfilledResult<{ rows: Row[] }>).value.rows;
    } finally {
      client.release(broken);
    }
  };
}

/** The word to stop may meet a later statement: then nobody else's, and the limit is off afterwards. */
async function isUntouched(client: StoppableClient, stopped: Promise<void>): Promise<boolean> {
  await stopped;
  const reset = () => client.query("reset statement_timeout", []);
  return reset()
    .catch(reset)
    .then(
      () => true,
      () => false,
    );
}
