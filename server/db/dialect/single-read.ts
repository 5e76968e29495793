import type { DialectAdapter, Kysely } from "kysely";
import type { Row } from "../naming.ts";
import type { Database } from "../tables.ts";

/**
 * Runs a statement that finds few rows by key, outside any transaction. Such reads are what most requests consist of,
 * so they do not pass through Kysely, which costs as much as the read (measured).
 */
export type SingleRead = (sql: string, parameters: readonly unknown[]) => Promise<Row[]>;

const reads = new WeakMap<DialectAdapter, SingleRead>();

/** An adapter is made for each handle on a store, and stays that of the handles that plugins narrow. */
export function withSingleReads<A extends DialectAdapter>(adapter: A, read: SingleRead): A {
  reads.set(adapter, read);
  return adapter;
}

/** Undefined within a transaction, whose reads stay in it. */
export const singleReadOf = (db: Kysely<Database>): SingleRead | undefined =>
  db.isTransaction ? undefined : reads.get(db.getExecutor().adapter);
