/** What every delivery says (docs/integrations.md, "What is sent"). */
export interface DeliveryBody {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly orgId: string;
  readonly siteId: string | null;
  readonly data: unknown;
}

/** The bytes that are signed and sent: made once, so that every attempt says the same. */
export const bodyOf = ({ id, type, timestamp, orgId, siteId, data }: DeliveryBody): string =>
  JSON.stringify({ id, type, timestamp, orgId, siteId, data });

/** One attempt of a delivery. */
export interface DeliveryAttempt {
  /** Of the delivery: the same at every attempt. */
  readonly id: string;
  readonly event: string;
  readonly eventId: string;
  readonly body: string;
  readonly attempt: number;
  readonly nowMs: number;
  /** Of the product that sends. */
  readonly version: string;
  /** HMAC-SHA-256 under the webhook's secret, in hexadecimal. */
  readonly mac: (text: string) => string;
}

/** The headers of an attempt; timestamp and signature are its own. */
export function deliveryHeaders(sent: DeliveryAttempt): Record<string, string> {
  const timestamp = String(Math.floor(sent.nowMs / 1_000));
  return {
    "Content-Type": "application/json",
    "User-Agent": `rmm-webhooks/${sent.version}`,
    "X-Webhook-Id": sent.id,
    "X-Webhook-Event": sent.event,
    "X-Webhook-Event-Id": sent.eventId,
    "X-Webhook-Attempt": String(sent.attempt),
    "X-Webhook-Timestamp": timestamp,
    "X-Webhook-Signature": `sha256=${sent.mac(`${timestamp}.${sent.body}`)}`,
  };
}
