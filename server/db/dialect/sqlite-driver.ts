import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, SqliteDatabase } from "kysely";
import { refuseInsideTransaction } from "../open-transaction.ts";

export interface SqliteConnections {
  /** Refuse a second connection inside a transaction. */
  readonly watch: boolean;
  /** Transactions and single writes, one after the other. */
  readonly writer: SqliteDatabase;
  /** Reads outside transactions: they see what is committed and wait for no one (write-ahead log). */
  readonly reader: SqliteDatabase;
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
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    (connection as Connection).rollback();
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    (connection as Connection).release();
    this.#idle.push(connection as Connection);
  }

  async destroy(): Promise<void> {
    this.#databases.writer.close();
    if (this.#databases.reader !== this.#databases.writer) this.#databases.reader.close();
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
    run(this.#databases.writer, "begin immediate");
  }

  commit(): void {
    run(this.#databases.writer, "commit");
    this.release();
  }

  /** A full disk ends the transaction by itself: report the failure itself, not that there is nothing to roll back. */
  rollback(): void {
    try {
      run(this.#databases.writer, "rollback");
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
    if (this.#inTransaction) return run<R>(this.#databases.writer, sql, parameters);
    if (query.kind === "SelectQueryNode") return run<R>(this.#databases.reader, sql, parameters);
    await this.#writing.take();
    try {
      return run<R>(this.#databases.writer, sql, parameters);
    } finally {
      this.#writing.pass();
    }
  }

  /** A read that stays open would show all others the database of its beginning: long reads go page by page. */
  streamQuery(): never {
    throw new Error("reads are not streamed");
  }
}

function run<R>(database: SqliteDatabase, sql: string, parameters: readonly unknown[] = []): QueryResult<R> {
  const statement = database.prepare(sql);
  if (statement.reader) return { rows: statement.all(parameters) as R[] };
  return { rows: [], numAffectedRows: BigInt(statement.run(parameters).changes) };
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
