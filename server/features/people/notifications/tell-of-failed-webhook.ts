import type { WebhookFailedEvent } from "#server/room-hooks";
import { notify } from "./notify.ts";

const reasons = {
  "failed deliveries": "Too many deliveries in a row failed.",
  "waiting deliveries": "Too many deliveries wait for its receiver.",
} as const;

/** Whoever created it is told, while they reach its organization. */
export async function tellOfFailedWebhook(event: WebhookFailedEvent): Promise<void> {
  const { tx, services, webhookId, name, orgId, createdBy, reason } = event;
  if (createdBy === null) return;
  await notify(tx, services, {
    about: { orgId, siteId: null },
    to: { userId: createdBy },
    type: "system",
    priority: "high",
    title: `Webhook ${name} is switched off`,
    message: `${reasons[reason]} It is told nothing more until somebody sets it active again.`,
    link: `/webhooks/${webhookId}`,
    metadata: { webhookId, reason },
  });
}
