import type { Selectable } from "kysely";
import { holdCredential } from "#server/access/write-credentials";
import type { WebhookDeliveriesTable, WebhooksTable } from "#server/db/tables/integrations";
import type { Reader, Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

export type WebhookRow = Selectable<WebhooksTable>;
export type DeliveryRow = Selectable<WebhookDeliveriesTable>;

/** NOT_FOUND, also for another tenant's. */
export async function getWebhook(db: Reader, id: string): Promise<WebhookRow> {
  const row = await db
    .selectFrom("webhooks")
    .innerJoin("organizations", "organizations.id", "webhooks.orgId")
    .selectAll("webhooks")
    .where("webhooks.id", "=", id)
    .executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  return row;
}

/** The webhook, held until the transaction ends and named in its audit entry. */
export async function holdWebhook(call: Call, tx: Tx, id: string): Promise<WebhookRow> {
  await getWebhook(tx, id);
  await holdCredential(call, "webhooks", id);
  const webhook = await getWebhook(tx, id);
  call.audit.note({ resource: { id: webhook.id, name: webhook.name }, owner: { orgId: webhook.orgId } });
  return webhook;
}
