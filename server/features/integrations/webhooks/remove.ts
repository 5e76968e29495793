import type { Endpoint } from "#contract/core/endpoint";
import type { webhooks } from "#contract/resources/integrations/webhooks";
import { getWritableOrg, refuseSiteRestricted } from "#server/access/org-access";
import { writeCredentials } from "#server/access/write-credentials";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { holdWebhook } from "./queries.ts";
import { queueChanged } from "./queue.ts";

type RemoveCall = typeof webhooks.remove extends Endpoint<infer T> ? Call<T> : never;

/** Its deliveries go with it. */
export async function removeWebhook(call: RemoveCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const webhook = await holdWebhook(call, tx, call.params.id);
    await getWritableOrg(call, webhook.orgId, tx);
    const removed = await writeCredentials(call, (all) =>
      all.deleteFrom("webhooks").where("id", "=", webhook.id).executeTakeFirst(),
    );
    if (removed.numDeletedRows !== 1n) throw problem("NOT_FOUND");
    await queueChanged(tx, [webhook.orgId]);
    return { success: true as const };
  });
}
