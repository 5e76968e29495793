import { sql } from "kysely";
import type { Tx } from "./unit-of-work.ts";

/** Part of a transaction that may fail without it: what it wrote is taken back, and the rest commits. */
export async function attempt<R>(tx: Tx, work: () => Promise<R>): Promise<{ done: R } | { error: Error }> {
  await sql`savepoint attempt`.execute(tx);
  try {
    const done = await work();
    await sql`release savepoint attempt`.execute(tx);
    return { done };
  } catch (error) {
    await sql`rollback to savepoint attempt`.execute(tx);
    await sql`release savepoint attempt`.execute(tx);
    return { error: error as Error };
  }
}
