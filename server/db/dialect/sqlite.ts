import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { type Driver, Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from "kysely";
import { registerAuditFunctions } from "../../audit/sqlite-functions.ts";
import { migrate } from "../migrate.ts";
import { rateLimitTable } from "../migrations/0006-platform.ts";
import { refuseInsideTransaction } from "../open-transaction.ts";
import type { Database } from "../tables.ts";
import { decodeSqliteRow, encodeSqlite } from "./codec.ts";
import type { Store } from "./index.ts";

const STATEMENT_CACHE_MAX = 500;

/** Opens (and creates, mode 0600) the embedded database. */
export function openSqlite(file: string, options: { readonly?: boolean } = {}): Store {
  if (file !== ":memory:" && !existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "a", 0o600));
    chmodSync(file, 0o600);
  }
  const raw = connectSqlite(file, options);
  const db = new Kysely<Database>({ dialect: new GuardedDialect({ database: cached(raw) }) });
  const volatile = new Kysely<Database>({ dialect: new SqliteDialect({ database: cached(inMemory()) }) });
  return {
    dialect: "sqlite",
    file,
    url: undefined,
    connection: () => db,
    volatile,
    migrate: () => migrate(db, "sqlite"),
    close: async () => void (await Promise.all([db.destroy(), volatile.destroy()])),
  };
}

function inMemory(): Sqlite.Database {
  const raw = new Sqlite(":memory:");
  for (const statement of rateLimitTable("sqlite")) raw.exec(statement);
  return raw;
}

class GuardedDialect extends SqliteDialect {
  override createDriver(): Driver {
    const driver = super.createDriver();
    const acquire = driver.acquireConnection.bind(driver);
    driver.acquireConnection = async () => {
      refuseInsideTransaction();
      return acquire();
    };
    return driver;
  }
}

/** One connection with the settings every part of the product relies on. */
export function connectSqlite(file: string, options: { readonly?: boolean } = {}): Sqlite.Database {
  const raw = new Sqlite(file, { readonly: options.readonly ?? false, timeout: 10_000 });
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
  registerAuditFunctions(raw);
  return raw;
}

/** Kysely prepares every statement anew, which costs more than running it; this keeps the last ones. */
function cached(raw: Sqlite.Database): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare(sql) {
      // A write transaction that starts as a reader can fail when it first writes; take the lock at once.
      const text = sql === "begin" ? "begin immediate" : sql;
      const known = statements.get(text);
      if (known) {
        statements.delete(text);
        statements.set(text, known);
        return known;
      }
      const made = adapt(raw.prepare(text));
      statements.set(text, made);
      if (statements.size > STATEMENT_CACHE_MAX) statements.delete(statements.keys().next().value as string);
      return made;
    },
    close() {
      statements.clear();
      raw.close();
    },
  };
}

function adapt(statement: Sqlite.Statement): SqliteStatement {
  const encoded = (parameters: readonly unknown[]) => parameters.map(encodeSqlite);
  return {
    reader: statement.reader,
    all: (parameters) => (statement.all(encoded(parameters)) as Record<string, unknown>[]).map(decodeSqliteRow),
    run: (parameters) => statement.run(encoded(parameters)),
    *iterate(parameters) {
      for (const row of statement.iterate(encoded(parameters))) yield decodeSqliteRow(row as Record<string, unknown>);
    },
  };
}
