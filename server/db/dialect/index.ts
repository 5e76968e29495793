import type { Kysely, Transaction } from "kysely";
import type { ServerKey } from "../server-key.ts";
import type { Database } from "../tables.ts";
import type { Signals } from "./signals.ts";

export type DialectName = "sqlite" | "postgres";

/** Any handle on the data: unscoped, scoped, or a transaction of either. */
export type Db = Kysely<Database>;

/**
 * A database that is open. Holds every difference between the two engines; features see `Db` and
 * the functions of `dialect/text.ts` and `dialect/locks.ts` only.
 */
export interface Store {
  readonly dialect: DialectName;
  /** Transactions are followed to catch a second connection asked for inside one; see `open-transaction.ts`. */
  readonly watched: boolean;
  /**
   * Kysely without plugins whose connections carry this tenant wall: `system`, `partner:<uuid>`,
   * `org:<uuid>` or `none`. On Postgres row-level security enforces it; SQLite has no second wall.
   */
  connection(wall: string): Kysely<Database>;
  /** Lifts the wall of a tenant's transaction until `lower`, or its end. Only the server can: it signs for it. */
  lift(tx: Transaction<Database>): Promise<void>;
  lower(tx: Transaction<Database>): Promise<void>;
  /**
   * State that may be lost with the machine: rate limits. On Postgres the same database without waiting for the disk at
   * commit, shared by every process; SQLite serves one process and keeps it in memory. Needs no transaction of the
   * caller and may be used inside one.
   */
  readonly volatile: Kysely<Database>;
  /** Wakes what waits, in this process and the others that share the database. */
  readonly signals: Signals;
  /** Proves the server to its database where that asks for it: on Postgres. */
  readonly key: ServerKey | undefined;
  /** Rejects with a sentence where connections do not have what requests need of them: a session of their own. */
  requireOwnSessions(): Promise<void>;
  /** Runs every migration that is missing; replicas wait for the one that migrates. */
  migrate(): Promise<string[]>;
  /** SQLite file, for workers that open a connection of their own. */
  readonly file: string | undefined;
  /** Postgres URL of the login for system work, for the same purpose. */
  readonly url: string | undefined;
  close(): Promise<void>;
}
