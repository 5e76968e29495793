import { asSystem } from "#server/db/as-system";
import type { Services } from "#server/services";
import type { Consumer, StoredEvent } from "./consumer.ts";
import { HANDED, inTransaction } from "./hand-out.ts";

/** An event that a consumer could not take. */
export interface SetAside {
  readonly consumer: string;
  readonly eventId: string;
  readonly kind: string;
  readonly occurredAt: string;
  readonly setAsideAt: string;
}

/** In the order in which they happened. */
export const listSetAside = (services: Services): Promise<SetAside[]> =>
  asSystem(services, "hand out events")
    .selectFrom("setAsideEvents")
    .innerJoin("events", "events.id", "setAsideEvents.eventId")
    .select(["consumer", "eventId", "kind", "occurredAt", "setAsideAt"])
    .orderBy("position")
    .orderBy("consumer")
    .execute();

/**
 * Hands the consumer one event that it could not take. Whoever removes the row hands it out, in the same transaction, so
 * that of two at once one does. False where it was handed out meanwhile; rejects with what the consumer threw, and then
 * it stays set aside.
 */
export async function handOutAgain(services: Services, consumer: Consumer, eventId: string): Promise<boolean> {
  return inTransaction(services, async (tx) => {
    const removed = await tx
      .deleteFrom("setAsideEvents")
      .where("consumer", "=", consumer.name)
      .where("eventId", "=", eventId)
      .executeTakeFirstOrThrow();
    if (removed.numDeletedRows !== 1n) return false;
    const event = await tx.selectFrom("events").select(HANDED).where("id", "=", eventId).executeTakeFirst();
    if (event === undefined) return false;
    await consumer.handle(services, tx, [event as unknown as StoredEvent]);
    await tx
      .updateTable("eventCursors")
      .set((eb) => ({ setAside: eb("setAside", "-", 1) }))
      .where("consumer", "=", consumer.name)
      .where("setAside", ">", 0)
      .execute();
    return true;
  });
}
