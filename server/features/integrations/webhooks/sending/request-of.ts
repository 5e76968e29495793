import { createHmac } from "node:crypto";
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
  const timestamp = String(Math.floor(nowMs / 1_000));
  return {
    url,
    headers: {
      ...(authorization === undefined || own.some(({ key }) => /^authorization$/i.test(key)) ? {} : { authorization }),
      ...Object.fromEntries(own.map(({ key, value }) => [key, value])),
      "Content-Type": "application/json",
      "User-Agent": `rmm-webhooks/${productVersion()}`,
      "X-Webhook-Id": id,
      "X-Webhook-Event": event,
      "X-Webhook-Event-Id": eventId,
      "X-Webhook-Attempt": String(attempt),
      "X-Webhook-Timestamp": timestamp,
      "X-Webhook-Signature": `sha256=${signature(secret, timestamp, sentBody)}`,
    },
    body: sentBody,
    secrets: [secret, ...own.map(({ value }) => value), ...secretsIn(address)],
  };
}

/** HMAC-SHA-256 of the timestamp, a point and the body as it is sent, in hexadecimal. */
export const signature = (secret: string, timestamp: string, body: string): string =>
  createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
