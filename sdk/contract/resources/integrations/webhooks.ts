import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, del, get, type Noun, patch, post, resource, shape } from "../../core/endpoint.ts";
import { eventKinds } from "../../core/events.ts";
import {
  type FieldMeta,
  freeObject,
  instant,
  listedName,
  ref,
  secret,
  success,
  text,
  webAddress,
} from "../../core/fields.ts";
import { lenientInt, paged, pageOf, pageQuery } from "../../core/page.ts";

export const webhookStatuses = ["active", "paused", "failed"] as const;
export const deliveryStatuses = ["pending", "retrying", "delivered", "failed"] as const;

const policy = () => ({
  maxRetries: z.int().min(0).max(10),
  initialDelayMs: z.int().min(1_000).max(60_000),
  backoffMultiplier: z.number().min(1).max(10),
  maxDelayMs: z.int().min(1_000).max(3_600_000),
});

/** Address of an organization that is told of its events (docs/integrations.md, "Webhooks"). */
export const Webhook = shape("Webhook", () =>
  z.object({
    id: z.string(),
    orgId: z.string(),
    orgName: listedName(),
    name: z.string(),
    url: z.string().describe("user, password and values of the query read as ********"),
    events: z.array(z.string()),
    headers: z.array(z.object({ key: z.string(), value: z.string().describe("always ********") })),
    retryPolicy: z.object(policy()),
    status: z.enum(webhookStatuses),
    hasSecret: z.boolean(),
    successCount: z.int().describe("deliveries that arrived since the beginning, without tests"),
    failureCount: z.int().describe("deliveries that were given up since the beginning, without tests"),
    consecutiveFailures: z.int(),
    lastDeliveryAt: instant().nullable(),
    lastSuccessAt: instant().nullable(),
    createdBy: z.string().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

/** One event for one webhook, with its latest attempt (docs/integrations.md, "Deliveries"). */
export const WebhookDelivery = shape("WebhookDelivery", () =>
  z.object({
    id: z.string(),
    webhookId: z.string(),
    orgId: z.string(),
    event: z.string(),
    eventId: z.string(),
    payload: z.record(z.string(), z.unknown()).optional().describe("with organizations:write only"),
    status: z.enum(deliveryStatuses),
    attempts: z.int(),
    nextAttemptAt: instant().nullable(),
    responseStatus: z.int().nullable(),
    responseBody: z.string().nullable().optional().describe("with organizations:write only"),
    responseTimeMs: z.int().nullable(),
    errorMessage: z.string().nullable().optional().describe("with organizations:write only"),
    createdAt: instant(),
    updatedAt: instant(),
    deliveredAt: instant().nullable(),
  }),
);

/** Any text: an unknown kind is answered `UNKNOWN_EVENT`, which a schema could not say. */
const kinds = () =>
  z
    .array(z.string().max(100))
    .min(1)
    .max(100)
    .transform((given) => [...new Set(given)])
    .meta({
      published: { type: "array", minItems: 1, maxItems: 100, items: { type: "string", examples: [...eventKinds] } },
    } satisfies FieldMeta);

/** The same in a query string. */
const kindsInQuery = () =>
  z
    .string()
    .max(2_000)
    .default("*")
    .transform((given) => [...new Set(given.split(",").map((one) => one.trim()))])
    .meta({ published: { type: "string", default: "*", maxLength: 2_000 } } satisfies FieldMeta);

/** An event as a delivery tells of it. */
const ToldEvent = shape("ToldEvent", () =>
  z.object({
    id: z.string(),
    type: z.string(),
    timestamp: instant(),
    orgId: z.string(),
    siteId: z.string().nullable(),
    data: z.record(z.string(), z.unknown()),
  }),
);

const name = () => text(255).meta({ description: "display name", example: "ticketing" } satisfies FieldMeta);
const headerKey = () => z.string().regex(/^[A-Za-z0-9-]{1,64}$/, "must be 1 to 64 of letters, digits and -");
const headerValue = () =>
  secret(z.string().regex(/^[\x20-\x7e]{1,1024}$/, "must be 1 to 1024 printable ASCII characters"));
/** The mask is shorter than any secret. */
const signingSecret = () =>
  secret(
    z
      .string()
      .max(255)
      .refine((value) => value.length >= 16 || value === "********", "must have at least 16 characters")
      .meta({ published: { type: "string", minLength: 16, maxLength: 255 } } satisfies FieldMeta),
  );
const eventName = () => z.string().regex(/^[a-z0-9_.]{1,100}$/, "must be a kind of event");

const readers = staff().needs("organizations:read");
const writers = staff().needs("organizations:write").withMfa();
const reached = ["NOT_FOUND", "SITE_ACCESS_DENIED"] as const;

const about: Noun = {
  name: "webhooks",
  summary: "Addresses that are told of an organization's events",
  thing: "webhook",
  kinds: { webhook: { names: ["name"], example: "ticketing" }, "webhook-delivery": { listedBy: "deliveries" } },
  audits: ["webhook.create", "webhook.update", "webhook.delete", "webhook.test", "webhook.retry"],
};

export const webhooks = resource(about, {
  list: get("/webhooks", {
    summary: "List webhooks",
    access: readers,
    errors: ["ORG_ACCESS_DENIED", "SITE_ACCESS_DENIED"],
    paging: paged,
    columns: ["name", "status", "orgName", "url", "events", "consecutiveFailures", "lastDeliveryAt", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        orgId: ref("organization").optional().describe("only those of this organization"),
        status: z.enum(webhookStatuses).optional().describe("only those in this status"),
      }),
    returns: () => pageOf(Webhook()),
  }),
  events: get("/webhooks/events", {
    summary: "Wait for the events that a webhook would be told of",
    own: "what `rmm webhooks listen` asks: a receiver that no server reaches is told of events too",
    description:
      "Without `cursor` answers at once with the one of now; with it, what happened since, or after `waitSeconds` nothing. `data` may be empty before that: ask again with the new cursor. `missed`: some are no longer kept.",
    access: writers,
    errors: [
      "ORG_ID_REQUIRED",
      "ORG_CONTEXT_REQUIRED",
      "ORG_ACCESS_DENIED",
      "SITE_ACCESS_DENIED",
      "UNKNOWN_EVENT",
      "ORG_READ_ONLY",
    ],
    query: () =>
      z.object({
        orgId: ref("organization").optional().describe("needed in partner and system scope"),
        events: kindsInQuery().describe("kinds, prefixes such as device.*, or *, separated by commas"),
        cursor: z.string().max(200).optional().describe("of the answer before"),
        waitSeconds: lenientInt({ default: 0, min: 0, max: 25 }).describe("how long to wait for the first event"),
      }),
    returns: () => z.object({ data: z.array(ToldEvent()), cursor: z.string(), missed: z.boolean() }),
  }),
  create: create("/webhooks", {
    summary: "Create a webhook",
    description:
      "Its address must be https and on the public internet. Where no `secret` is given one is made, and shown in this answer alone.",
    access: writers,
    audit: "webhook.create",
    errors: [
      "ORG_ID_REQUIRED",
      "ORG_CONTEXT_REQUIRED",
      "ORG_ACCESS_DENIED",
      "SITE_ACCESS_DENIED",
      "UNSAFE_URL",
      "UNKNOWN_EVENT",
      "LIMIT_REACHED",
      "ORG_READ_ONLY",
    ],
    body: () =>
      z.strictObject({
        orgId: ref("organization").optional().describe("needed in partner and system scope"),
        name: name(),
        url: webAddress().meta({
          description: "where events are posted; https, on the public internet",
          example: "https://hooks.contoso.example/rmm",
        } satisfies FieldMeta),
        secret: signingSecret().optional().describe("signs deliveries; made where it is left out"),
        events: kinds().describe("kinds, prefixes such as device.*, or *"),
        headers: z
          .array(z.strictObject({ key: headerKey(), value: headerValue() }))
          .max(20)
          .default([])
          .describe("sent with every delivery"),
        retryPolicy: z
          .strictObject(policy())
          .partial()
          .optional()
          .describe("default 5 retries, after 1 s and twice as long each time, up to 300 s"),
      }),
    returns: () => z.object({ ...Webhook().shape, secret: secret().optional() }),
  }),
  get: get("/webhooks/:id", {
    summary: "Show a webhook with the numbers of its deliveries",
    description:
      "`successCount` and `failureCount` are since the beginning, `deliveryStats` is of the 30 days that deliveries are kept. Tests are in none of them: the list of deliveries has those.",
    access: readers,
    errors: reached,
    returns: () =>
      z.object({
        ...Webhook().shape,
        deliveryStats: z
          .object({
            total: z.int(),
            pending: z.int(),
            delivered: z.int(),
            failed: z.int(),
            retrying: z.int(),
            lastDeliveredAt: instant().nullable(),
          })
          .describe("of the last 30 days, without tests"),
      }),
  }),
  update: patch("/webhooks/:id", {
    summary: "Change, pause or activate a webhook",
    description:
      "Another scheme, host or port takes `secret` and every header value anew. Pausing gives up the deliveries that wait; `active` arms a webhook that failed.",
    access: writers,
    audit: "webhook.update",
    errors: [...reached, "NO_UPDATES", "UNSAFE_URL", "UNKNOWN_EVENT", "ORG_READ_ONLY", "CONCURRENT_MODIFICATION"],
    body: () =>
      z
        .strictObject({
          name: name(),
          url: webAddress().describe("another scheme, host or port needs the secret and all header values anew"),
          secret: signingSecret().describe("signs deliveries from now on"),
          events: kinds().describe("kinds, prefixes such as device.*, or *; replaces the list"),
          headers: z
            .array(z.strictObject({ key: headerKey(), value: headerValue().optional() }))
            .max(20)
            .describe("replaces the list; a header without a value keeps the stored one"),
          retryPolicy: z.strictObject(policy()).partial().describe("what is left out stays"),
          status: z.enum(["active", "paused"]).describe("paused gives up what waits; active sends again"),
        })
        .partial(),
    returns: Webhook,
  }),
  remove: del("/webhooks/:id", {
    summary: "Delete a webhook with its deliveries",
    access: writers,
    audit: "webhook.delete",
    errors: [...reached, "ORG_READ_ONLY"],
    returns: success,
  }),
  deliveries: get("/webhooks/:id/deliveries", {
    summary: "List deliveries of a webhook, newest first",
    description: "`payload`, `responseBody` and `errorMessage` are told to holders of organizations:write alone.",
    access: readers,
    errors: reached,
    paging: paged,
    columns: [
      ...(["createdAt", "status", "event", "responseStatus", "errorMessage"] as const),
      ...(["attempts", "responseTimeMs", "nextAttemptAt", "id"] as const),
    ],
    query: () =>
      z.object({
        ...pageQuery(),
        status: z.enum(deliveryStatuses).optional().describe("only those in this status"),
        event: eventName().optional().describe("only those of this kind"),
      }),
    returns: () => pageOf(WebhookDelivery()),
  }),
  test: post("/webhooks/:id/test", {
    summary: "Send a signed test delivery",
    description:
      "The body always says `webhook.test`; `event` and `payload` are its data. One attempt, also while the webhook is paused.",
    access: writers,
    audit: "webhook.test",
    loses: "nothing",
    status: 202,
    idempotent: true,
    bodyOptional: true,
    errors: [...reached, "UNKNOWN_EVENT", "ORG_READ_ONLY"],
    body: () =>
      z.strictObject({
        event: eventName().optional().describe("kind that is sampled; default webhook.test"),
        payload: freeObject()
          .optional()
          .meta({ description: "data of the test", example: { ok: true } } satisfies FieldMeta),
      }),
    returns: () => z.object({ message: z.string(), delivery: WebhookDelivery() }),
  }),
  retry: post("/webhooks/:id/retry/:deliveryId", {
    summary: "Send a failed delivery again",
    description: "Makes a new delivery with the same payload and event id. The webhook must be active.",
    access: writers,
    audit: "webhook.retry",
    loses: "nothing",
    status: 202,
    idempotent: true,
    refs: { deliveryId: "webhook-delivery" },
    errors: [...reached, "INVALID_STATE", "ORG_READ_ONLY"],
    returns: () => z.object({ message: z.string(), delivery: WebhookDelivery() }),
  }),
});
