import { type SelectQueryBuilder, sql } from "kysely";
import type { Database, TableName } from "../tables.ts";
import type { Tx } from "../unit-of-work.ts";
import type { DialectName, Store } from "./index.ts";

/**
 * Holds a named lock until the transaction ends. SQLite needs none: its write transactions already
 * exclude each other from the start.
 */
export async function lockText(tx: Tx, dialect: DialectName, name: string): Promise<void> {
  if (dialect === "postgres") await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 1))`.execute(tx);
}

/** Shares a named lock with others that share it, until the transaction ends; `lockText` waits for all of them. */
export async function shareText(tx: Tx, dialect: DialectName, name: string): Promise<void> {
  if (dialect === "postgres") await sql`select pg_advisory_xact_lock_shared(hashtextextended(${name}, 1))`.execute(tx);
}

/** Holds one row until the transaction ends: for caps that count other rows. */
export async function lockRow(tx: Tx, dialect: DialectName, table: TableName, id: string): Promise<void> {
  await lockText(tx, dialect, `${table}:${id}`);
}

/** Reads rows and holds them until the transaction ends; SQLite's write transactions already exclude each other. */
export function held<Q extends { forUpdate(): Q }>(query: Q, dialect: DialectName): Q {
  return dialect === "postgres" ? query.forUpdate() : query;
}

/** The same, while others may still write rows whose foreign keys name the held ones. */
export function heldAsParent<Q extends { forNoKeyUpdate(): Q }>(query: Q, dialect: DialectName): Q {
  return dialect === "postgres" ? query.forNoKeyUpdate() : query;
}

/** Reads rows that nobody changes until the transaction ends. */
export function shared<Q extends { forShare(): Q }>(query: Q, dialect: DialectName): Q {
  return dialect === "postgres" ? query.forShare() : query;
}

/** Rows that nobody changes until the transaction ends, however many: none of them is read. */
export async function holdAll<O>(
  tx: Tx,
  query: SelectQueryBuilder<Database, keyof Database, O>,
  dialect: DialectName,
): Promise<void> {
  if (dialect !== "postgres") return;
  await tx
    .selectFrom(query.forShare().as("held"))
    .select((eb) => eb.fn.countAll().as("count"))
    .execute();
}

/** `for update skip locked` where the database has it; SQLite's one writer needs none. */
export const skipsLocked = (store: Pick<Store, "dialect">): boolean => store.dialect === "postgres";
