import type { Endpoint } from "#contract/core/endpoint";
import type { webhooks } from "#contract/resources/integrations/webhooks";
import { refuseSiteRestricted } from "#server/access/org-access";
import { preparedPage } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { getWebhook } from "./queries.ts";
import { deliveryColumns, seesContents, shownDelivery } from "./view.ts";

type DeliveriesCall = typeof webhooks.deliveries extends Endpoint<infer T> ? Call<T> : never;

/** Newest first. */
export async function listDeliveries(call: DeliveriesCall) {
  refuseSiteRestricted(call);
  const { id: webhookId, orgId } = await getWebhook(call.db, call.params.id);
  const { status, event } = call.query;
  const page = await pageOf(call.db, call.query, { orgId, webhookId, status, event }, null);
  const contents = seesContents(call);
  return { ...page, data: page.data.map((row) => shownDelivery(row, contents)) };
}

type Asked = { orgId: string; webhookId: string } & Pick<DeliveriesCall["query"], "status" | "event">;

const pageOf = preparedPage((db, { orgId, webhookId, status, event }: Asked) => {
  let query = db
    .selectFrom("webhookDeliveries")
    .select(deliveryColumns)
    .where("webhookDeliveries.orgId", "=", orgId)
    .where("webhookDeliveries.webhookId", "=", webhookId);
  if (status !== undefined) query = query.where("webhookDeliveries.status", "=", status);
  if (event !== undefined) query = query.where("webhookDeliveries.event", "=", event);
  return query.orderBy("webhookDeliveries.createdAt", "desc").orderBy("webhookDeliveries.id", "desc");
});
