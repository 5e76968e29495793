import { asSystem, type Exit } from "./as-system.ts";
import type { Store } from "./dialect/index.ts";
import { changeRing, type RingRequest, type RingState } from "./dialect/rate-ring.ts";
import type { Tx } from "./unit-of-work.ts";

/**
 * Counts against a limit in the state that may be lost with the machine (`Store.volatile`), or within a transaction,
 * which keeps it as durably as what it limits.
 */
export const changeLimit = (store: Store, request: RingRequest, within?: Tx): Promise<RingState> =>
  changeRing(within ?? store.volatile, store.dialect, request);

/** Drops limits whose windows have passed, wherever they were counted. */
export async function purgeLimits(exit: Exit, now: string): Promise<void> {
  for (const db of [exit.store.volatile, asSystem(exit, "purge expired")])
    await db.deleteFrom("rateLimits").where("expiresAt", "<=", now).execute();
}
