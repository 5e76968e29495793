import type { Endpoint } from "#contract/core/endpoint";
import type { webhooks } from "#contract/resources/integrations/webhooks";
import { refuseSiteRestricted } from "#server/access/org-access";
import type { Call } from "#server/http/call";
import { getWebhook } from "./queries.ts";
import { shownWebhook } from "./view.ts";

type GetCall = typeof webhooks.get extends Endpoint<infer T> ? Call<T> : never;

/** A webhook with the numbers of the deliveries that are kept; tests are in no number, as in those since the beginning. */
export async function showWebhook(call: GetCall) {
  refuseSiteRestricted(call);
  const webhook = await getWebhook(call.db, call.params.id);
  const counted = await call.db
    .selectFrom("webhookDeliveries")
    .select(({ fn }) => ["status", fn.countAll<number>().as("number"), fn.max("deliveredAt").as("lastDeliveredAt")])
    .where("webhookId", "=", webhook.id)
    .where("origin", "<>", "test")
    .groupBy("status")
    .execute();
  const numberOf = (status: string) => Number(counted.find((one) => one.status === status)?.number ?? 0);
  return {
    ...shownWebhook(webhook),
    deliveryStats: {
      total: counted.reduce((sum, { number }) => sum + Number(number), 0),
      pending: numberOf("pending"),
      delivered: numberOf("delivered"),
      failed: numberOf("failed"),
      retrying: numberOf("retrying"),
      lastDeliveredAt: counted.find(({ status }) => status === "delivered")?.lastDeliveredAt ?? null,
    },
  };
}
