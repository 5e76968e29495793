import { setImmediate } from "node:timers/promises";
import type { Kysely } from "kysely";
import { isRefusedRow } from "#server/db/dialect/violations";
import { appending } from "./busy.ts";
import { type ChainRef, chainOf } from "./chain.ts";
import type { HeldChains } from "./held-chains.ts";
import { type BatchOptions, moveBatch } from "./move-batch.ts";
import type { AuditTables } from "./tables.ts";
import { inTurns, type Waiting, waitingByChain } from "./waiting-entries.ts";

export interface MoveOptions extends BatchOptions {
  /** Told of each failure, and whose entries stay where it is those of one chain; the writer goes on by itself. */
  onError?(error: unknown, attempt: number, chain?: ChainRef): void;
  /** Told of an entry that is stored without what the database refused. */
  onUnwritable?(error: unknown, chain: ChainRef): void;
  /** Told how many entries each batch moved. */
  onMoved?(entries: number): void;
}

type Round = "empty" | "moved" | "busy";

/** An entry that the database refuses so often is stored without what it refuses. */
const REFUSED_MAX = 5;

/**
 * Looks at the oldest entries and moves them, a batch of one chain per transaction. Chains take turns, and one that fails
 * is left alone for a while: neither a tenant with much to write nor an entry that cannot be stored stops the others.
 */
export async function moveRound(db: Kysely<AuditTables>, options: MoveOptions, held: HeldChains): Promise<Round> {
  const failed = new Set<Waiting[]>();
  let moved = 0;
  for (const [group, batch] of inTurns(await waitingByChain(db, held.chains()))) {
    // What comes after an entry waits for it.
    if (failed.has(group)) continue;
    const chain = chainOf(group[0]!);
    const move = held.refusals(chain) >= REFUSED_MAX ? moveEach : moveBatch;
    try {
      const entries = await appending(() => move(db, batch, options));
      if (entries === "busy") return "busy";
      held.release(chain);
      if (entries > 0) options.onMoved?.(entries);
      moved += entries;
    } catch (error) {
      failed.add(group);
      options.onError?.(error, held.hold(chain, isRefusedRow(error)), chain);
    }
    // SQLite answers without ever leaving this turn of the event loop; requests must get theirs.
    await setImmediate();
  }
  return moved > 0 ? "moved" : "empty";
}

/** One by one: what comes before an entry that the database refuses is stored, and that one without what it says. */
async function moveEach(db: Kysely<AuditTables>, batch: Waiting[], options: MoveOptions): Promise<number | "busy"> {
  let moved = 0;
  for (const waiting of batch) {
    const entries = await moveBatch(db, [waiting], options).catch(async (error: unknown) => {
      if (!isRefusedRow(error)) throw error;
      const stored = await moveBatch(db, [waiting], { ...options, refusedWith: error });
      if (stored === 1) options.onUnwritable?.(error, chainOf(waiting));
      return stored;
    });
    if (entries === "busy") return "busy";
    moved += entries;
  }
  return moved;
}
