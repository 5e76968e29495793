import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from "kysely";
import { refuseInsideTransaction } from "../open-transaction.ts";
import { boundsOfQuery } from "../read-bounds.ts";
import { fairTurn } from "./fair-turn.ts";
import type { Checkpoints } from "./sqlite-checkpoints.ts";
import type { SqliteHandle } from "./sqlite-handle.ts";
import type { ReadThreads } from "./sqlite-threads.ts";
import type { Turns } from "./turns.ts";

export interface SqliteConnections {
  /** Refuse a second connection inside a transaction. */
  readonly watch: boolean;
  /** Transactions and single writes, one after the other. */
  readonly writer: SqliteHandle;
  /** Reads outside transactions: they see what is committed and wait for no one (write-ahead log). */
  readonly reader: SqliteHandle;
  /** Take such reads where they could hold up the process. */
  readonly threads: ReadThreads | undefined;
  /** Makes commits durable; undefined = nothing is kept, or nothing written. */
  readonly disk: SqliteDisk | undefined;
  readonly checkpoints: Checkpoints | undefined;
  readonly writing: Turns;
}

export interface SqliteDisk {
  /** Resolves once all that is committed by now outlasts a power failure. */
  durable(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Kysely's own driver has one connection and queues reads behind every open transaction; the waiters wake each other
 * one by one, which under load costs more than the reads.
 */
export class SqliteReadWriteDriver implements Driver {
  readonly #databases: SqliteConnections;
  /** Kysely remembers each connection it was given; new ones for every query would burden the collector. */
  readonly #idle: Connection[] = [];

  constructor(databases: SqliteConnections) {
    this.#databases = databases;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#databases.watch) refuseInsideTransaction();
    return this.#idle.pop() ?? new Connection(this.#databases);
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await (connection as Connection).begin();
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    (connection as Connection).commit();
    // Others write meanwhile: who is answered waits, and with it for everything that it has seen.
    await this.#databases.disk?.durable();
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    (connection as Connection).rollback();
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    (connection as Connection).release();
    this.#idle.push(connection as Connection);
  }

  async destroy(): Promise<void> {
    await this.#databases.threads?.close();
    await this.#databases.checkpoints?.close();
    await this.#databases.disk?.close();
    // The last connection writes the log back into the file; one that only reads cannot, and would leave both.
    if (this.#databases.reader !== this.#databases.writer) this.#databases.reader.close();
    this.#databases.writer.close();
  }
}

class Connection implements DatabaseConnection {
  readonly #databases: SqliteConnections;
  #inTransaction = false;
  /** Rows that its transaction has written. */
  #rows = 0;

  constructor(databases: SqliteConnections) {
    this.#databases = databases;
  }

  async begin(): Promise<void> {
    await this.#databases.writing.take();
    this.#inTransaction = true;
    this.#rows = 0;
    // One that starts as a reader can fail when it first writes; the lock is taken at once.
    this.#databases.writer.run("begin immediate");
  }

  commit(): void {
    this.#databases.writer.run("commit");
    this.release();
    this.#databases.checkpoints?.committed(this.#rows);
  }

  /** A full disk ends the transaction by itself: report the failure itself, not that there is nothing to roll back. */
  rollback(): void {
    try {
      this.#databases.writer.run("rollback");
    } catch (error) {
      if (!(error as Error).message.includes("no transaction is active")) throw error;
    }
    this.release();
  }

  /** Also after a failed `begin` or `commit`: otherwise the next writer would never get its turn. */
  release(): void {
    if (!this.#inTransaction) return;
    this.#inTransaction = false;
    this.#databases.writing.pass();
  }

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    await fairTurn();
    const { writer, reader, threads, disk, checkpoints, writing } = this.#databases;
    if (this.#inTransaction) {
      const done = writer.run<R>(sql, parameters);
      if (query.kind !== "SelectQueryNode") this.#rows += rowsOf(done);
      return done;
    }
    if (query.kind === "SelectQueryNode") {
      if (threads?.areNeeded()) return { rows: (await threads.rows(sql, parameters, boundsOfQuery(query))) as R[] };
      return reader.run<R>(sql, parameters);
    }
    const written = await writing.alone(() => writer.run<R>(sql, parameters));
    checkpoints?.committed(rowsOf(written));
    await disk?.durable();
    return written;
  }

  /** A read that stays open would show all others the database of its beginning: long reads go page by page. */
  streamQuery(): never {
    throw new Error("reads are not streamed");
  }
}

const rowsOf = ({ rows, numAffectedRows }: QueryResult<unknown>): number => Number(numAffectedRows ?? rows.length);
