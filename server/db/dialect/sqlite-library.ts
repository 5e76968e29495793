import { createRequire } from "node:module";
import type Sqlite from "better-sqlite3";
import { OLDER_NODE, type SqlitePackage, sqliteRemedy } from "./sqlite-remedy.ts";

/** One connection to a SQLite file. */
export type SqliteConnection = Sqlite.Database;

/** What opens SQLite files here. */
export interface SqliteLibrary {
  readonly name: "better-sqlite3";
  readonly version: string;
  /** Version of SQLite itself, which is compiled into the library. */
  readonly sqlite: string;
}

type Open = new (file: string, options?: Sqlite.Options) => SqliteConnection;

/**
 * The Node-API that better-sqlite3 13 is built for. Node has it from 22.14 and 23.6 on; where it is missing, loading 13
 * ends the process with a segmentation fault. 12 needs no Node-API, but aborts the process from Node 24.19 on.
 */
const NEEDED_NODE_API = 10;

/** The package that holds the better-sqlite3 for a Node with this Node-API. */
export function sqlitePackage(nodeApi: string | undefined): SqlitePackage {
  return Number(nodeApi ?? 0) >= NEEDED_NODE_API ? "better-sqlite3" : "better-sqlite3-12";
}

let loaded: ReturnType<typeof loadSqlite> | undefined;
const load = () => {
  loaded ??= loadSqlite(sqlitePackage(process.versions.napi), createRequire(import.meta.url));
  return loaded;
};

/** Opens a SQLite file. The library is loaded at the first call: a server on Postgres does without. */
export function openSqliteFile(file: string, options: Sqlite.Options = {}): SqliteConnection {
  const { Open } = load();
  return new Open(file, options);
}

/** What this Node opens SQLite files with. Throws, with the remedy, where it does not work. */
export function sqliteLibrary(): SqliteLibrary {
  return load().about;
}

/** Loads a package and tries it; what fails says what to do. */
export function loadSqlite(
  name: SqlitePackage,
  from: NodeJS.Require,
): { readonly Open: Open; readonly about: SqliteLibrary } {
  try {
    // Of what is installed globally each package has what it depends on to itself.
    const require = name === "better-sqlite3" ? from : createRequire(from.resolve(`${OLDER_NODE}/package.json`));
    const Open = require(name) as Open;
    const { version } = require(`${name}/package.json`) as { version: string };
    // Only a connection shows whether the compiled half is there.
    const db = new Open(":memory:");
    const sqlite = db.prepare("select sqlite_version()").pluck().get() as string;
    db.close();
    return { Open, about: { name: "better-sqlite3", version, sqlite } };
  } catch (cause) {
    throw new SqliteUnavailable(cause as Error, sqliteRemedy(name));
  }
}

/** The library is not there or does not fit this Node; the message ends with what to do. */
export class SqliteUnavailable extends Error {
  readonly what: string;
  readonly remedy: string;

  constructor(cause: Error, remedy: string) {
    const what = `better-sqlite3 does not load on Node ${process.versions.node} (${cause.message.split("\n")[0]})`;
    super(`${what}. ${remedy}`, { cause });
    this.name = "SqliteUnavailable";
    this.what = what;
    this.remedy = remedy;
  }
}
