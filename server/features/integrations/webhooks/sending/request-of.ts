import { createHmac } from "node:crypto";
import { deliveryHeaders } from "#contract/core/webhook-request";
import type { Vault } from "#server/platform/vault";
import { productVersion } from "#server/platform/version";
import { secretsIn, splitCredentials } from "../address.ts";
import type { DeliveryRow, WebhookRow } from "../queries.ts";
import { openHeaders, openSecret, openUrl, type Sealed } from "../sealed.ts";

export interface DeliveryRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** What no log of the delivery may hold. */
  readonly secrets: readonly string[];
}

type Sent = Pick<DeliveryRow, "id" | "event" | "eventId" | "sentBody">;

/** One attempt of a delivery: timestamp and signature are its own (docs/integrations.md, "What is sent"). */
export function requestOf(
  vault: Vault,
  webhook: Sealed & Pick<WebhookRow, "id">,
  { id, event, eventId, sentBody }: Sent,
  { attempt, nowMs }: { attempt: number; nowMs: number },
): DeliveryRequest {
  const address = openUrl(vault, webhook);
  const secret = openSecret(vault, webhook);
  const own = openHeaders(vault, webhook);
  const { url, authorization } = splitCredentials(address);
  const mac = (text: string) => createHmac("sha256", secret).update(text).digest("hex");
  return {
    url,
    headers: {
      ...(authorization === undefined || own.some(({ key }) => /^authorization$/i.test(key)) ? {} : { authorization }),
      ...Object.fromEntries(own.map(({ key, value }) => [key, value])),
      ...deliveryHeaders({ id, event, eventId, body: sentBody, attempt, nowMs, version: productVersion(), mac }),
    },
    body: sentBody,
    secrets: [secret, ...own.map(({ value }) => value), ...secretsIn(address)],
  };
}
