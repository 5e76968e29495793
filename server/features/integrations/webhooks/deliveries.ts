import type { Endpoint } from "#contract/core/endpoint";
import type { webhooks } from "#contract/resources/integrations/webhooks";
import { refuseSiteRestricted } from "#server/access/org-access";
import { paginate } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { getWebhook } from "./queries.ts";
import { seesContents, shownDelivery } from "./view.ts";

type DeliveriesCall = typeof webhooks.deliveries extends Endpoint<infer T> ? Call<T> : never;

/** Newest first. */
export async function listDeliveries(call: DeliveriesCall) {
  refuseSiteRestricted(call);
  const webhook = await getWebhook(call.db, call.params.id);
  const { status, event } = call.query;
  let query = call.db.selectFrom("webhookDeliveries").selectAll().where("webhookId", "=", webhook.id);
  if (status !== undefined) query = query.where("status", "=", status);
  if (event !== undefined) query = query.where("event", "=", event);
  const page = await paginate(query.orderBy("createdAt", "desc").orderBy("id", "desc"), call.query);
  const contents = seesContents(call);
  return { ...page, data: page.data.map((row) => shownDelivery(row, contents)) };
}
