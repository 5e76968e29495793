import type { Log } from "../platform/log.ts";
import type { Db, Store } from "./dialect/index.ts";
import type { SystemReason } from "./system-reasons.ts";

/** What a way out of the tenant scope needs: the database, and where its reason is written. */
export interface Exit {
  readonly store: Store;
  readonly log: Log;
}

export const SYSTEM_WALL = "system";

/**
 * The exit from the tenant scope (server/README.md, "Five locks on tenancy") for work that is no request: jobs, schedules, finding out who calls.
 * A request has `call.asSystem`, which joins its transaction.
 */
export function asSystem(exit: Exit, reason: SystemReason): Db {
  noteExit(exit, reason);
  return exit.store.connection(SYSTEM_WALL);
}

export const noteExit = ({ log }: Pick<Exit, "log">, reason: SystemReason): void =>
  log.debug("db.as_system", { reason });
