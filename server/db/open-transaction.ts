import { AsyncLocalStorage } from "node:async_hooks";

const open = new AsyncLocalStorage<true>();

/** Marks what runs inside a transaction, so that nothing in it reaches for a second connection. */
export const insideTransaction = <R>(work: () => Promise<R>): Promise<R> => open.run(true, work);

/**
 * A second connection inside a transaction waits without end on SQLite (one connection) and does not see the
 * transaction's rows on Postgres: always a mistake, so it is refused.
 */
export function refuseInsideTransaction(): void {
  if (open.getStore())
    throw new Error("a second connection was asked for inside a transaction: use the transaction's handle");
}
