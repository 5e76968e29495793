import { grants } from "#contract/core/permissions";
import { type Call, user } from "#server/http/call";
import type { DeliveryRow, WebhookRow } from "./queries.ts";

const MASK = "********";

/** A webhook as it is shown: secrets read as the mask. */
export function shownWebhook(row: WebhookRow) {
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

/** What a delivery said and what came back repeats tickets, invoices, sign-ins. */
export const seesContents = (call: Pick<Call, "who">): boolean => grants(user(call).permissions, "organizations:write");

export function shownDelivery(row: DeliveryRow, contents: boolean) {
  const { sentBody, origin: _, responseBody, errorMessage, ...rest } = row;
  if (!contents) return rest;
  return { ...rest, payload: JSON.parse(sentBody) as Record<string, unknown>, responseBody, errorMessage };
}
