import type { DialectAdapter, Kysely, PostgresPool, PostgresPoolClient } from "kysely";
import type { Row } from "../naming.ts";
import { type ReadBounds, ReadGivenUp } from "../read-bounds.ts";
import type { Database } from "../tables.ts";
import type { LongReads } from "./long-reads.ts";

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
  /** Runs a statement that the connection keeps nothing of. */
  queryOnce(sql: string, parameters: readonly unknown[]): Promise<{ rows: unknown[] }>;
  /** Closed where it may not be lent again. */
  release(destroy?: boolean): void;
}

/**
 * What is built for one caller is planned for its values, as for data in memory: what most devices have is read as it
 * lies, or from an index that has all that is asked for.
 */
const forOnce = ["plan_cache_mode = force_custom_plan", "random_page_cost = 1.1"];

const sent = (client: StoppableClient, word: "set" | "reset", settings: readonly string[]) =>
  client.query(settings.map((setting) => `${word} ${setting}`).join("; "), []);

const namesOf = (settings: readonly string[]) => settings.map((setting) => setting.split(" ")[0] as string);

/**
 * The limit is the database's own. All statements are sent at once, so that it costs no trip. What nobody waits for
 * any more is ended.
 */
export function boundedPostgresReads(pool: PostgresPool, long: LongReads | undefined): BoundedRead {
  const read = readWithin(pool);
  return (sql, parameters, bounds) =>
    bounds.apart && long ? long.run(bounds, () => read(sql, parameters, bounds)) : read(sql, parameters, bounds);
}

function readWithin(pool: PostgresPool): BoundedRead {
  return async (sql, parameters, bounds) => {
    const { untilMs, gone, once = false } = bounds;
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
      const settings = [`statement_timeout = ${leftMs}`, ...(once ? forOnce : [])];
      const [set, read, reset] = await Promise.allSettled([
        sent(client, "set", settings),
        once ? client.queryOnce(sql, parameters) : client.query<Row>(sql, parameters),
        sent(client, "reset", namesOf(settings)),
      ]);
      gone.removeEventListener("abort", stop);
      if (stopped) {
        broken = !(await isUntouched(client, stopped, namesOf(settings)));
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
async function isUntouched(client: StoppableClient, stopped: Promise<void>, settings: readonly string[]) {
  await stopped;
  const reset = () => sent(client, "reset", settings);
  return reset()
    .catch(reset)
    .then(
      () => true,
      () => false,
    );
}
