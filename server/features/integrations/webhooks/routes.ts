import { webhooks } from "#contract/resources/integrations/webhooks";
import { implement, judgingSecret } from "#server/http/implement";
import { createWebhook } from "./create.ts";
import { listDeliveries } from "./deliveries.ts";
import { listenToEvents } from "./events.ts";
import { showWebhook } from "./get.ts";
import { listWebhooks } from "./list.ts";
import { removeWebhook } from "./remove.ts";
import { retryDelivery } from "./retry.ts";
import { webhookSecretState } from "./secret-state.ts";
import { testWebhook } from "./send-test.ts";
import { updateWebhook } from "./update.ts";

export const routes = implement(webhooks, {
  list: listWebhooks,
  events: listenToEvents,
  create: judgingSecret(createWebhook, webhookSecretState),
  get: showWebhook,
  update: updateWebhook,
  remove: removeWebhook,
  deliveries: listDeliveries,
  test: testWebhook,
  retry: retryDelivery,
});
