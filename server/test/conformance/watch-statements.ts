import { DefaultQueryExecutor, type DialectAdapter } from "kysely";
import { vi } from "vitest";
import { boundedReadOf, withBoundedReads } from "#server/db/dialect/bounded-read";
import type { Store } from "#server/db/dialect/index";
import { singleReadOf, withSingleReads } from "#server/db/dialect/single-read";

/** A SELECT that the server ran, and under which tenant wall. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly wall: string;
}

/** Tells of every SELECT of a store, however it is run; until `vi.restoreAllMocks`. */
export function watchStatements(store: Store, note: (statement: Statement) => void): void {
  const walls = new WeakMap<DialectAdapter, string>();
  const connection = store.connection.bind(store);
  vi.spyOn(store, "connection").mockImplementation((wall) => {
    const db = connection(wall);
    const { adapter } = db.getExecutor();
    if (walls.has(adapter)) return db;
    walls.set(adapter, wall);
    const [single, bounded] = [singleReadOf(db), boundedReadOf(db)];
    if (single)
      withSingleReads(adapter, (sql, parameters) => {
        note({ sql, parameters, wall });
        return single(sql, parameters);
      });
    if (bounded)
      withBoundedReads(adapter, (sql, parameters, bounds) => {
        note({ sql, parameters, wall });
        return bounded(sql, parameters, bounds);
      });
    return db;
  });
  const base = Object.getPrototypeOf(DefaultQueryExecutor.prototype) as DefaultQueryExecutor;
  const { executeQuery } = base;
  vi.spyOn(base, "executeQuery").mockImplementation(function (this: DefaultQueryExecutor, query) {
    const wall = walls.get(this.adapter);
    if (wall !== undefined && query.query.kind === "SelectQueryNode") note({ ...query, wall });
    return executeQuery.call(this, query) as never;
  });
}
