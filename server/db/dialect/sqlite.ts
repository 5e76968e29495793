import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import {
  type Driver,
  Kysely,
  type QueryCompiler,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteStatement,
} from "kysely";
import { registerAuditFunctions } from "../../audit/sqlite-functions.ts";
import { migrate } from "../migrate.ts";
import { rateLimitTable } from "../migrations/0006-platform.ts";
import { rowsOf } from "../naming.ts";
import type { Database } from "../tables.ts";
import { encodeSqlite, sqliteDecoder } from "./codec.ts";
import { SnakeCaseSqliteCompiler } from "./compilers.ts";
import type { Store } from "./index.ts";
import { registerPlaceIn } from "./ordering.ts";
import { Signals } from "./signals.ts";
import { type SqliteConnections, SqliteReadWriteDriver } from "./sqlite-driver.ts";
import { openSqliteFile, type SqliteConnection } from "./sqlite-library.ts";

const STATEMENT_CACHE_MAX = 500;

/** Opens (and creates, mode 0600) the embedded database. */
export function openSqlite(file: string, options: { readonly?: boolean; watch?: boolean } = {}): Store {
  if (file !== ":memory:" && !existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "a", 0o600));
    chmodSync(file, 0o600);
  }
  const watch = options.watch ?? true;
  const writer = cached(connectSqlite(file, options));
  const reader = file === ":memory:" || options.readonly ? writer : cached(connectSqlite(file, { readonly: true }));
  const db = new Kysely<Database>({ dialect: new EmbeddedDialect({ writer, reader, watch }) });
  const memory = cached(inMemory());
  const volatile = new Kysely<Database>({
    dialect: new EmbeddedDialect({ writer: memory, reader: memory, watch: false }),
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

function inMemory(): SqliteConnection {
  const raw = openSqliteFile(":memory:");
  for (const statement of rateLimitTable("sqlite")) raw.exec(statement);
  return raw;
}

class EmbeddedDialect extends SqliteDialect {
  readonly #databases: SqliteConnections;

  constructor(databases: SqliteConnections) {
    super({ database: databases.writer });
    this.#databases = databases;
  }

  override createDriver(): Driver {
    return new SqliteReadWriteDriver(this.#databases);
  }

  override createQueryCompiler(): QueryCompiler {
    return new SnakeCaseSqliteCompiler();
  }
}

/** One connection with the settings every part of the product relies on. */
export function connectSqlite(file: string, options: { readonly?: boolean } = {}): SqliteConnection {
  const raw = openSqliteFile(file, { readonly: options.readonly ?? false, timeout: 10_000 });
  if (!options.readonly) raw.pragma("journal_mode = WAL");
  raw.pragma("synchronous = FULL");
  // 64 MB of pages, and a checkpoint every 16 MB: random keys (hashes, old ids) would otherwise read and write pages again and again.
  raw.pragma("cache_size = -65536");
  raw.pragma("wal_autocheckpoint = 4000");
  raw.pragma("foreign_keys = ON");
  raw.pragma("recursive_triggers = ON");
  raw.pragma("trusted_schema = ON");
  // SQLite folds ASCII only; names here are in every script.
  raw.function("fold", { deterministic: true }, (value) => (typeof value === "string" ? value.toLowerCase() : value));
  registerPlaceIn(raw);
  registerAuditFunctions(raw);
  return raw;
}

/** Kysely prepares every statement each time, which costs more than running it; this keeps the last ones. */
function cached(raw: SqliteConnection): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare(sql) {
      const known = statements.get(sql);
      if (known) {
        statements.delete(sql);
        statements.set(sql, known);
        return known;
      }
      const made = adapt(raw.prepare(sql));
      statements.set(sql, made);
      if (statements.size > STATEMENT_CACHE_MAX) statements.delete(statements.keys().next().value as string);
      return made;
    },
    close() {
      statements.clear();
      raw.close();
    },
  };
}

const unstreamed = (): never => {
  throw new Error("reads are not streamed");
};

function adapt(statement: ReturnType<SqliteConnection["prepare"]>): SqliteStatement {
  const encoded = (parameters: readonly unknown[]) => parameters.map(encodeSqlite);
  const run: SqliteStatement["run"] = (parameters) => statement.run(encoded(parameters));
  if (!statement.reader) {
    const none = () => {
      throw new Error("the statement returns no rows");
    };
    return { reader: false, run, all: none, iterate: unstreamed };
  }
  const rowOf = rowsOf(
    statement.columns().map(({ name }) => name),
    sqliteDecoder,
  );
  statement.raw();
  return {
    reader: true,
    run,
    all: (parameters) => (statement.all(encoded(parameters)) as unknown[][]).map(rowOf),
    iterate: unstreamed,
  };
}
