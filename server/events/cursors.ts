import { skipsLocked } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Services } from "#server/services";

/** The cursor that holds the last position given. */
export const NUMBERING = "numbering";

/** Holds the cursor until the transaction ends; undefined where another process does, or there is none. */
export async function holdCursor(services: Pick<Services, "store">, tx: Tx, consumer: string) {
  const query = tx.selectFrom("eventCursors").selectAll().where("consumer", "=", consumer);
  return (skipsLocked(services.store) ? query.forUpdate().skipLocked() : query).executeTakeFirst();
}
