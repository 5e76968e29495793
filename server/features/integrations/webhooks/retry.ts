import type { Endpoint } from "#contract/core/endpoint";
import type { webhooks } from "#contract/resources/integrations/webhooks";
import { getWritableOrg, refuseSiteRestricted } from "#server/access/org-access";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { holdWebhook } from "./queries.ts";
import { queuedAnswer } from "./queued-answer.ts";
import { takeTest } from "./send-test.ts";

type RetryCall = typeof webhooks.retry extends Endpoint<infer T> ? Call<T> : never;

/** A new delivery of the same event; the one that failed stays as it is. */
export async function retryDelivery(call: RetryCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const webhook = await holdWebhook(call, tx, call.params.id);
    await getWritableOrg(call, webhook.orgId, tx);
    const failed = await tx
      .selectFrom("webhookDeliveries")
      .selectAll()
      .where("id", "=", call.params.deliveryId)
      .where("webhookId", "=", webhook.id)
      .executeTakeFirst();
    if (!failed) throw problem("NOT_FOUND");
    if (failed.status !== "failed") throw problem("INVALID_STATE", { details: { status: failed.status } });
    const { event, eventId, sentBody, origin } = failed;
    // Tests go out whatever the status; anything else would wait for nobody.
    if (origin !== "test" && webhook.status !== "active")
      throw problem("INVALID_STATE", {
        message: `The webhook is not active: its status is ${webhook.status}`,
        details: { status: webhook.status },
      });
    if (origin === "test") await takeTest(call, webhook.id);
    call.audit.note({ details: { retryOf: failed.id } });
    const again = origin === "test" ? "test" : "retry";
    return queuedAnswer(call, tx, { webhook, event, eventId, sentBody, origin: again });
  });
}
