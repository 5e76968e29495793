import type { QueryResult } from "kysely";
import { type Row, rowsOf } from "../naming.ts";
import { encodeSqlite, sqliteDecoder } from "./codec.ts";
import { keptStatements } from "./sqlite-connection.ts";
import type { SqliteConnection } from "./sqlite-library.ts";

/** A connection that speaks in what features see: rows by name, booleans, parsed JSON. */
export interface SqliteHandle {
  run<R>(sql: string, parameters?: readonly unknown[]): QueryResult<R>;
  rows(sql: string, parameters: readonly unknown[]): Row[];
  close(): void;
}

export function handleOf(raw: SqliteConnection): SqliteHandle {
  const kept = keptStatements(raw);
  const rows = (sql: string, parameters: readonly unknown[]) => {
    const { columns = [], rows: read } = kept(sql);
    return read(encoded(parameters)).map(namedBy(columns));
  };
  return {
    rows,
    run<R>(sql: string, parameters: readonly unknown[] = []): QueryResult<R> {
      const statement = kept(sql);
      if (statement.columns !== undefined) return { rows: rows(sql, parameters) as R[] };
      return { rows: [], numAffectedRows: BigInt(statement.run(encoded(parameters)).changes) };
    },
    close: () => void raw.close(),
  };
}

export const encoded = (parameters: readonly unknown[]): unknown[] => parameters.map(encodeSqlite);

const makers = new WeakMap<readonly string[], ReturnType<typeof rowsOf>>();

/** What makes rows of the values of a statement's columns; made once for the list of columns that a statement keeps. */
export function namedBy(columns: readonly string[]): (values: readonly unknown[]) => Row {
  const known = makers.get(columns);
  if (known) return known;
  const made = rowsOf(columns, sqliteDecoder);
  makers.set(columns, made);
  return made;
}
