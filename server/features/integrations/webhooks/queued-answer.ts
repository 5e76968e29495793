import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { type NewDelivery, queueDeliveries } from "./queue.ts";
import { shownDelivery } from "./view.ts";

/** Queues the delivery that a person asked for, and answers with it. */
export async function queuedAnswer(call: Call, tx: Tx, delivery: Omit<NewDelivery, "id">) {
  const id = call.random.uuid();
  await queueDeliveries(tx, [{ ...delivery, id }], call.clock.now());
  call.audit.note({ details: { deliveryId: id, eventId: delivery.eventId } });
  const row = await tx.selectFrom("webhookDeliveries").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  return { message: "Delivery queued", delivery: shownDelivery(row, true) };
}
