import { grants } from "#contract/core/permissions";
import { type Call, user } from "#server/http/call";
import type { DeliveryRow, WebhookRow } from "./queries.ts";

const MASK = "********";

/** What is shown of a webhook, and whether it has a secret. */
export const webhookColumns = [
  "webhooks.id",
  "webhooks.orgId",
  "webhooks.name",
  "webhooks.urlShown",
  "webhooks.events",
  "webhooks.headerKeys",
  "webhooks.secretSealed",
  "webhooks.retryPolicy",
  "webhooks.status",
  "webhooks.successCount",
  "webhooks.failureCount",
  "webhooks.consecutiveFailures",
  "webhooks.lastDeliveryAt",
  "webhooks.lastSuccessAt",
  "webhooks.createdBy",
  "webhooks.createdAt",
  "webhooks.updatedAt",
] as const;

type Hidden = "urlSealed" | "target" | "headersSealed" | "writtenBy";

/** A webhook as it is shown: secrets read as the mask. */
export function shownWebhook(row: Omit<WebhookRow, Hidden> & Partial<Pick<WebhookRow, Hidden>>) {
  const {
    urlSealed: _,
    urlShown,
    target: __,
    headerKeys,
    headersSealed: ___,
    secretSealed,
    writtenBy: ____,
    ...rest
  } = row;
  return {
    ...rest,
    url: urlShown,
    headers: headerKeys.map((key) => ({ key, value: MASK })),
    hasSecret: secretSealed !== "",
  };
}

/** What may be shown of a delivery. */
export const deliveryColumns = [
  "webhookDeliveries.id",
  "webhookDeliveries.orgId",
  "webhookDeliveries.webhookId",
  "webhookDeliveries.event",
  "webhookDeliveries.eventId",
  "webhookDeliveries.sentBody",
  "webhookDeliveries.origin",
  "webhookDeliveries.status",
  "webhookDeliveries.attempts",
  "webhookDeliveries.nextAttemptAt",
  "webhookDeliveries.responseStatus",
  "webhookDeliveries.responseBody",
  "webhookDeliveries.responseTimeMs",
  "webhookDeliveries.errorMessage",
  "webhookDeliveries.createdAt",
  "webhookDeliveries.updatedAt",
  "webhookDeliveries.deliveredAt",
] as const;

/** What a delivery said and what came back repeats tickets, invoices, sign-ins. */
export const seesContents = (call: Pick<Call, "who">): boolean => grants(user(call).permissions, "organizations:write");

export function shownDelivery(row: DeliveryRow, contents: boolean) {
  const { sentBody, origin: _, responseBody, errorMessage, ...rest } = row;
  if (!contents) return rest;
  return { ...rest, payload: JSON.parse(sentBody) as Record<string, unknown>, responseBody, errorMessage };
}
