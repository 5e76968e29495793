import { registerAuditFunctions } from "../../audit/sqlite-functions.ts";
import { registerTextFunctions } from "./sqlite-functions.ts";
import { openSqliteFile, type SqliteConnection } from "./sqlite-library.ts";

/** Pages of the log that are written back together: 16 MB. */
export const CHECKPOINT_PAGES = 4_000;
/** Of a connection whose log is written back in a thread: where that does not keep up, a commit does it. */
const LAST_RESORT_PAGES = 4 * CHECKPOINT_PAGES;

interface ConnectionOptions {
  readonly?: boolean;
  cacheMb?: number;
  /** Its owner waits for the disk after each commit (`group-sync.ts`), and writes the log back; otherwise the commit does. */
  syncedByOwner?: boolean;
}

/** One connection with the settings every part of the product relies on. */
export function connectSqlite(
  file: string,
  { readonly = false, cacheMb = 64, syncedByOwner = false }: ConnectionOptions = {},
): SqliteConnection {
  const raw = openSqliteFile(file, { readonly, timeout: 10_000 });
  if (!readonly) raw.pragma("journal_mode = WAL");
  raw.pragma(`synchronous = ${syncedByOwner ? "NORMAL" : "FULL"}`);
  // 64 MB of pages, and a checkpoint every 16 MB: random keys (hashes, old ids) would otherwise read and write pages again and again.
  raw.pragma(`cache_size = -${cacheMb * 1_024}`);
  raw.pragma(`wal_autocheckpoint = ${syncedByOwner ? LAST_RESORT_PAGES : CHECKPOINT_PAGES}`);
  raw.pragma("foreign_keys = ON");
  raw.pragma("recursive_triggers = ON");
  raw.pragma("trusted_schema = ON");
  registerTextFunctions(raw);
  registerAuditFunctions(raw);
  return raw;
}

/** A statement that is kept; rows are the values of its columns. */
export interface KeptStatement {
  /** Undefined = it returns no rows. */
  readonly columns: readonly string[] | undefined;
  run(parameters: readonly unknown[]): { changes: number };
  rows(parameters: readonly unknown[]): unknown[][];
}

const STATEMENTS_MAX = 500;

/** Preparing a statement costs more than running it; this keeps the last ones. */
export function keptStatements(raw: SqliteConnection): (sql: string) => KeptStatement {
  const statements = new Map<string, KeptStatement>();
  return (sql) => {
    const known = statements.get(sql);
    if (known) {
      statements.delete(sql);
      statements.set(sql, known);
      return known;
    }
    const made = kept(raw.prepare(sql));
    statements.set(sql, made);
    if (statements.size > STATEMENTS_MAX) statements.delete(statements.keys().next().value as string);
    return made;
  };
}

function kept(statement: ReturnType<SqliteConnection["prepare"]>): KeptStatement {
  const columns = statement.reader ? statement.columns().map(({ name }) => name) : undefined;
  if (columns !== undefined) statement.raw();
  return {
    columns,
    run: (parameters) => statement.run(parameters),
    rows: (parameters) => statement.all(parameters) as unknown[][],
  };
}
