import { chunks } from "#server/db/chunks";
import type { Tx } from "#server/db/unit-of-work";
import type { DeliveryRow, WebhookRow } from "./queries.ts";

/** One delivery that is to be made. */
export interface NewDelivery extends Pick<DeliveryRow, "id" | "event" | "eventId" | "sentBody" | "origin"> {
  readonly webhook: Pick<WebhookRow, "id" | "orgId">;
}

/** Queues deliveries in the transaction of what they tell of. One that a webhook has of this event already stays alone. */
export async function queueDeliveries(tx: Tx, deliveries: readonly NewDelivery[], now: string): Promise<void> {
  const rows = deliveries.map(({ webhook, ...delivery }) => ({
    ...delivery,
    orgId: webhook.orgId,
    webhookId: webhook.id,
    status: "pending" as const,
    attempts: 0,
    nextAttemptAt: now,
    responseStatus: null,
    responseBody: null,
    responseTimeMs: null,
    errorMessage: null,
    createdAt: now,
    updatedAt: now,
    deliveredAt: null,
  }));
  for (const some of chunks(rows))
    await tx
      .insertInto("webhookDeliveries")
      .values(some)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  await queuesAreDue(tx, [...new Set(rows.map((row) => row.orgId))].sort(), now);
}

/** In one order, so that nobody waits in a circle. */
async function queuesAreDue(tx: Tx, orgIds: readonly string[], now: string): Promise<void> {
  for (const some of chunks(orgIds))
    await tx
      .insertInto("webhookQueues")
      .values(some.map((orgId) => ({ orgId, dueAt: now, changes: 1, holder: null, heldUntil: null })))
      .onConflict((conflict) =>
        conflict.column("orgId").doUpdateSet((eb) => ({ dueAt: now, changes: eb("webhookQueues.changes", "+", 1) })),
      )
      .execute();
}

/** Tells whoever sends for this organization that its webhooks are not what they were. */
export async function queueChanged(tx: Tx, orgIds: readonly string[]): Promise<void> {
  if (orgIds.length === 0) return;
  await tx
    .updateTable("webhookQueues")
    .set((eb) => ({ changes: eb("changes", "+", 1) }))
    .where("orgId", "in", orgIds)
    .execute();
}
