import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type Driver, Kysely, type QueryCompiler, SqliteAdapter, SqliteDialect } from "kysely";
import { migrate } from "../migrate.ts";
import { rateLimitTable } from "../migrations/0006-platform.ts";
import { refuseInsideTransaction } from "../open-transaction.ts";
import type { Database } from "../tables.ts";
import { withBoundedReads } from "./bounded-read.ts";
import { SnakeCaseSqliteCompiler } from "./compilers.ts";
import { fairTurn } from "./fair-turn.ts";
import { GroupSync } from "./group-sync.ts";
import type { Store } from "./index.ts";
import { Signals } from "./signals.ts";
import { withSingleReads } from "./single-read.ts";
import { Checkpoints } from "./sqlite-checkpoints.ts";
import { connectSqlite } from "./sqlite-connection.ts";
import { type SqliteConnections, type SqliteDisk, SqliteReadWriteDriver } from "./sqlite-driver.ts";
import { handleOf, type SqliteHandle } from "./sqlite-handle.ts";
import { openSqliteFile } from "./sqlite-library.ts";
import { SqliteLog } from "./sqlite-log.ts";
import { LARGE_BYTES, readThreads } from "./sqlite-threads.ts";
import { Turns } from "./turns.ts";

interface SqliteOptions {
  readonly?: boolean;
  watch?: boolean;
  /** Size of the database from which lists are read in threads. */
  largeBytes?: number;
  /** Pages of the log that are written back together. */
  pages?: number;
}

/** Opens (and creates, mode 0600) the embedded database. */
export function openSqlite(file: string, options: SqliteOptions = {}): Store {
  if (file !== ":memory:" && !existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "a", 0o600));
    chmodSync(file, 0o600);
  }
  const watch = options.watch ?? true;
  // Others cannot open a database in memory.
  const alone = file === ":memory:" || options.readonly === true;
  const writer = handleOf(connectSqlite(file, { ...options, syncedByOwner: !alone }));
  const disk = alone ? undefined : diskOf(file);
  const reading = alone ? undefined : connectSqlite(file, { readonly: true });
  const reader = reading ? handleOf(reading) : writer;
  const threads = reading && readThreads(file, reading, options.largeBytes ?? LARGE_BYTES);
  const writing = new Turns();
  const checkpoints = alone ? undefined : new Checkpoints(file, writing, options);
  const db = new Kysely<Database>({
    dialect: new EmbeddedDialect({ writer, reader, threads, watch, disk, checkpoints, writing }),
  });
  const memory = inMemory();
  const none = { threads: undefined, disk: undefined, checkpoints: undefined };
  const volatile = new Kysely<Database>({
    dialect: new EmbeddedDialect({ writer: memory, reader: memory, ...none, watch: false, writing: new Turns() }),
  });
  const signals = new Signals();
  return {
    dialect: "sqlite",
    watched: watch,
    file,
    url: undefined,
    key: undefined,
    connection: () => db,
    lift: async () => undefined,
    lower: async () => undefined,
    volatile,
    signals,
    requireOwnSessions: async () => undefined,
    migrate: () => migrate(db, "sqlite"),
    close: async () => void (await Promise.all([signals.close(), db.destroy(), volatile.destroy()])),
  };
}

function diskOf(file: string): SqliteDisk {
  const log = new SqliteLog(file);
  const commits = new GroupSync(() => log.sync());
  return {
    durable: () => commits.durable(),
    async close() {
      await commits.settled();
      await log.close();
    },
  };
}

function inMemory(): SqliteHandle {
  const raw = openSqliteFile(":memory:");
  for (const statement of rateLimitTable("sqlite")) raw.exec(statement);
  return handleOf(raw);
}

class EmbeddedAdapter extends SqliteAdapter {
  /** Migrations all take effect or none, and wait for the disk once instead of at each of their statements. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class EmbeddedDialect extends SqliteDialect {
  readonly #databases: SqliteConnections;

  constructor(databases: SqliteConnections) {
    // The driver below takes no database of Kysely's own.
    super({ database: undefined as never });
    this.#databases = databases;
  }

  override createAdapter(): SqliteAdapter {
    const { reader, threads, watch } = this.#databases;
    const adapter = withBoundedReads(new EmbeddedAdapter(), async (sql, parameters, bounds) => {
      if (watch) refuseInsideTransaction();
      await fairTurn();
      return threads && (bounds.apart || threads.areNeeded())
        ? threads.rows(sql, parameters, bounds)
        : reader.rows(sql, parameters);
    });
    return withSingleReads(adapter, async (sql, parameters) => {
      if (watch) refuseInsideTransaction();
      return reader.rows(sql, parameters);
    });
  }

  override createDriver(): Driver {
    return new SqliteReadWriteDriver(this.#databases);
  }

  override createQueryCompiler(): QueryCompiler {
    return new SnakeCaseSqliteCompiler();
  }
}
