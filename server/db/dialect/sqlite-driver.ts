import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from "kysely";
import { refuseInsideTransaction } from "../open-transaction.ts";
import { boundsOfQuery } from "../read-bounds.ts";
import { fairTurn } from "./fair-turn.ts";
import type { SqliteHandle } from "./sqlite-handle.ts";
import type { ReadThreads } from "./sqlite-threads.ts";

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
  readonly #writing = new Turns();
  /** Kysely remembers each connection it was given; new ones for every query would burden the collector. */
  readonly #idle: Connection[] = [];

  constructor(databases: SqliteConnections) {
    this.#databases = databases;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#databases.watch) refuseInsideTransaction();
    return this.#idle.pop() ?? new Connection(this.#databases, this.#writing);
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
    await this.#databases.disk?.close();
    // The last connection writes the log back into the file; one that only reads cannot, and would leave both.
    if (this.#databases.reader !== this.#databases.writer) this.#databases.reader.close();
    this.#databases.writer.close();
  }
}

class Connection implements DatabaseConnection {
  readonly #databases: SqliteConnections;
  readonly #writing: Turns;
  #inTransaction = false;

  constructor(databases: SqliteConnections, writing: Turns) {
    this.#databases = databases;
    this.#writing = writing;
  }

  async begin(): Promise<void> {
    await this.#writing.take();
    this.#inTransaction = true;
    // One that starts as a reader can fail when it first writes; the lock is taken at once.
    this.#databases.writer.run("begin immediate");
  }

  commit(): void {
    this.#databases.writer.run("commit");
    this.release();
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
    this.#writing.pass();
  }

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    await fairTurn();
    const { writer, reader, threads, disk } = this.#databases;
    if (this.#inTransaction) return writer.run<R>(sql, parameters);
    if (query.kind === "SelectQueryNode") {
      if (threads?.areNeeded()) return { rows: (await threads.rows(sql, parameters, boundsOfQuery(query))) as R[] };
      return reader.run<R>(sql, parameters);
    }
    const written = await this.#alone(() => writer.run<R>(sql, parameters));
    await disk?.durable();
    return written;
  }

  async #alone<T>(write: () => T): Promise<T> {
    await this.#writing.take();
    try {
      return write();
    } finally {
      this.#writing.pass();
    }
  }

  /** A read that stays open would show all others the database of its beginning: long reads go page by page. */
  streamQuery(): never {
    throw new Error("reads are not streamed");
  }
}

/** A lock whose waiters are woken one at a time, in the order they came. */
class Turns {
  #taken = false;
  readonly #waiting: (() => void)[] = [];

  async take(): Promise<void> {
    if (this.#taken) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#taken = true;
  }

  pass(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#taken = false;
  }
}
