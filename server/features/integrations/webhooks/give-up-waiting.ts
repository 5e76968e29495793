import type { Tx } from "#server/db/unit-of-work";
import type { EventServices } from "#server/room-hooks";
import type { WebhookRow } from "./queries.ts";
import { queueChanged } from "./queue.ts";

/**
 * What waits for a webhook that sends no more is given up; a person can send it again. Tests go out whatever the status.
 * Needs the webhook's row held.
 */
export async function giveUpWaiting(tx: Tx, webhookIds: readonly string[], now: string): Promise<void> {
  if (webhookIds.length === 0) return;
  await tx
    .updateTable("webhookDeliveries")
    .set({ status: "failed", nextAttemptAt: null, errorMessage: "Webhook not active", updatedAt: now })
    .where("webhookId", "in", webhookIds)
    .where("status", "in", ["pending", "retrying"])
    .where("origin", "<>", "test")
    .execute();
}

/** Switches a webhook off because of its receiver. False: a person did already. */
export async function failWebhook(
  tx: Tx,
  services: EventServices,
  webhook: Pick<WebhookRow, "id" | "orgId" | "name" | "createdBy">,
  reason: "failed deliveries" | "waiting deliveries",
): Promise<boolean> {
  const now = services.clock.now();
  const { id: webhookId, orgId, name, createdBy } = webhook;
  const failed = await tx
    .updateTable("webhooks")
    .set({ status: "failed", updatedAt: now })
    .where("id", "=", webhookId)
    .where("status", "=", "active")
    .executeTakeFirst();
  if (failed.numUpdatedRows !== 1n) return false;
  await giveUpWaiting(tx, [webhookId], now);
  await queueChanged(tx, [orgId]);
  await services.hooks.onWebhookFailed({ tx, services, now, webhookId, orgId, name, createdBy, reason });
  services.log.warn("webhook.failed", { webhookId, reason });
  return true;
}

/** Pauses every active webhook of these organizations, as their closing asks for (docs/integrations.md, "Webhooks"). */
export async function pauseWebhooks(tx: Tx, orgIds: readonly string[], now: string): Promise<void> {
  if (orgIds.length === 0) return;
  const paused = await tx
    .updateTable("webhooks")
    .set({ status: "paused", updatedAt: now })
    .where("orgId", "in", orgIds)
    .where("status", "=", "active")
    .returning("id")
    .execute();
  await giveUpWaiting(
    tx,
    paused.map(({ id }) => id),
    now,
  );
  await queueChanged(tx, orgIds);
}
