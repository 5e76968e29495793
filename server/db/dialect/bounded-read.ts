import type { DialectAdapter, Kysely, PostgresPool } from "kysely";
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

/** The limit is the database's own. All three statements are sent at once, so that it costs no trip. */
export function boundedPostgresReads(pool: PostgresPool): BoundedRead {
  return async (sql, parameters, bounds) => {
    const { untilMs } = bounds;
    const client = await pool.connect();
    try {
      if (untilMs === undefined) return (await client.query<Row>(sql, parameters)).rows as Row[];
      if (bounds.gone.aborted) throw new ReadGivenUp("RMM_READ_LEFT");
      const leftMs = Math.ceil(untilMs - performance.now());
      if (leftMs <= 0) throw new ReadGivenUp("RMM_READ_LATE");
      const [set, read, reset] = await Promise.allSettled([
        client.query(`set statement_timeout = ${leftMs}`, []),
        client.query<Row>(sql, parameters),
        client.query("reset statement_timeout", []),
      ]);
      for (const one of [set, read, reset]) if (one.status === "rejected") throw one.reason;
      return (read as PromiseFulfilledResult<{ rows: Row[] }>).value.rows;
    } finally {
      client.release();
    }
  };
}
