import { asSystem } from "#server/db/as-system";
import { word } from "#server/db/dialect/text";
import { preparedRows } from "#server/db/prepared";
import type { Services } from "#server/services";
import type { DeliveryRow, WebhookRow } from "../queries.ts";

export const readWebhooks = (services: Services, orgId: string): Promise<WebhookRow[]> =>
  asSystem(services, "deliver webhooks").selectFrom("webhooks").selectAll().where("orgId", "=", orgId).execute();

/** What waits for a webhook, the earliest first; of one that is not active its tests alone. */
export const readWaiting = (services: Services, webhook: WebhookRow, limit: number): Promise<DeliveryRow[]> =>
  waiting(
    asSystem(services, "deliver webhooks"),
    { webhookId: webhook.id, limit },
    { testsOnly: webhook.status !== "active" },
  );

const waiting = preparedRows(
  (db, asked: { webhookId: string; limit: number }, { testsOnly }: { testsOnly: boolean }) => {
    const rows = db
      .selectFrom("webhookDeliveries")
      .selectAll()
      .where("webhookId", "=", asked.webhookId)
      .where("status", "in", [word("pending"), word("retrying")]);
    return (testsOnly ? rows.where("origin", "=", "test") : rows)
      .orderBy("nextAttemptAt")
      .orderBy("id")
      .limit(asked.limit);
  },
);
