import { bodyOf } from "#contract/core/webhook-request";
import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Consumer, StoredEvent } from "#server/events/consumer";
import type { Services } from "#server/services";
import { failWebhook } from "./give-up-waiting.ts";
import type { WebhookRow } from "./queries.ts";
import { type NewDelivery, queueDeliveries } from "./queue.ts";
import { matches, WAITING_MAX } from "./rules.ts";

/** Every event becomes a delivery for each webhook of its organization that is active and asked for its kind. */
export const consumers: readonly Consumer[] = [{ name: "webhooks", handle: fanOut }];

async function fanOut(services: Services, tx: Tx, events: readonly StoredEvent[]): Promise<boolean> {
  const orgIds = [...new Set(events.flatMap(({ orgId }) => (orgId === null ? [] : [orgId])))];
  if (orgIds.length === 0) return false;
  // Held, so that one that is paused in this moment is paused before or after all of these.
  const active = tx.selectFrom("webhooks").selectAll().where("orgId", "in", orgIds).where("status", "=", "active");
  const webhooks = await held(active.orderBy("id"), services.store.dialect).execute();
  const deliveries = webhooks.flatMap((webhook) => deliveriesOf(services, webhook, events));
  if (deliveries.length === 0) return false;
  const now = services.clock.now();
  await queueDeliveries(tx, deliveries, now);
  const waiting = await waitingOf(
    tx,
    webhooks.map(({ id }) => id),
  );
  for (const webhook of webhooks)
    if ((waiting.get(webhook.id) ?? 0) > WAITING_MAX) await failWebhook(tx, services, webhook, "waiting deliveries");
  return true;
}

function deliveriesOf({ random }: Services, webhook: WebhookRow, events: readonly StoredEvent[]): NewDelivery[] {
  return events
    .filter(({ orgId, kind }) => orgId === webhook.orgId && matches(webhook.events, kind))
    .map(({ id: eventId, kind, orgId, siteId, data, occurredAt }) => ({
      id: random.uuid(),
      webhook,
      event: kind,
      eventId,
      sentBody: bodyOf({ id: eventId, type: kind, timestamp: occurredAt, orgId: orgId as string, siteId, data }),
      origin: "event",
    }));
}

/** How many wait for each, with the index of those alone. */
async function waitingOf(tx: Tx, webhookIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx
    .selectFrom("webhookDeliveries")
    .select(({ fn }) => ["webhookId", fn.countAll<number>().as("number")])
    .where("webhookId", "in", webhookIds)
    .where("status", "in", ["pending", "retrying"])
    .groupBy("webhookId")
    .execute();
  return new Map(rows.map(({ webhookId, number }) => [webhookId, Number(number)]));
}
