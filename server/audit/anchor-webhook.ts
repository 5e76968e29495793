import { createHmac } from "node:crypto";
import { deliveryHeaders } from "#contract/core/webhook-request";
import { OutboundRefused } from "#server/platform/guarded-fetch";
import { productVersion } from "#server/platform/version";
import type { Services } from "#server/services";
import { isPrune } from "./anchor-format.ts";
import { type AnchorTarget, idOf, lineOf, markOf } from "./anchor-target.ts";

type Settings = NonNullable<Services["config"]["anchorWebhook"]>;

/**
 * `AUDIT_ANCHOR_WEBHOOK_URL`: a POST for each statement, within the bounds of other webhooks. It is signed as they are
 * where there is a secret; the statement bears its own signature besides (docs/audit-format.md, "Anchors elsewhere").
 */
export function webhookTarget(services: Services, { url, secret }: Settings): AnchorTarget {
  const { clock, webhookTargets } = services;
  return {
    name: "webhook",
    mark: markOf(url),
    async deliver(statement) {
      const [body, id] = [lineOf(statement), idOf(statement)];
      const event = isPrune(statement) ? "audit.prune_record" : "audit.anchor";
      const mac = (text: string) =>
        createHmac("sha256", secret ?? "")
          .update(text)
          .digest("hex");
      const sent = { id, event, eventId: id, body, attempt: 1, nowMs: clock.nowMs(), version: productVersion(), mac };
      const { "X-Webhook-Attempt": _, "X-Webhook-Signature": signature, ...headers } = deliveryHeaders(sent);
      const signed = secret === undefined ? headers : { ...headers, "X-Webhook-Signature": signature as string };
      const answer = await webhookTargets.anywhere.post(url, { headers: signed, body }).catch((error: unknown) => {
        // Messages of other errors may hold the address, and with it what only its receiver should know.
        throw new Error(error instanceof OutboundRefused ? error.message : "the request could not be sent");
      });
      if (answer.status < 200 || answer.status > 299) throw new Error(`it answered ${answer.status}`);
    },
  };
}
