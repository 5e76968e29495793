import type { deliveryStatuses, webhookStatuses } from "#contract/resources/integrations/webhooks";
import type { Fixed } from "../column-types.ts";
import type { Declared } from "../table-declaration.ts";

export interface RetryPolicy {
  maxRetries: number;
  initialDelayMs: number;
  backoffMultiplier: number;
  maxDelayMs: number;
}

export interface WebhooksTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  name: string;
  /** Sealed, because user, password and query may be secrets. */
  urlSealed: string;
  /** What may be shown of it. */
  urlShown: string;
  /** `https://host:port`: attempts at one target are bounded together. */
  target: string;
  events: string[];
  /** Names alone; the values are sealed together, as JSON. */
  headerKeys: string[];
  headersSealed: string | null;
  secretSealed: string;
  retryPolicy: RetryPolicy;
  status: (typeof webhookStatuses)[number];
  /** Scope of who wrote it last: an organization cannot send into the operator's own network. */
  writtenBy: "organization" | "partner" | "system";
  successCount: number;
  failureCount: number;
  consecutiveFailures: number;
  lastDeliveryAt: string | null;
  lastSuccessAt: string | null;
  createdBy: Fixed<string | null>;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** One event for one webhook. */
export interface WebhookDeliveriesTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  webhookId: Fixed<string>;
  event: Fixed<string>;
  eventId: Fixed<string>;
  /** The JSON text that every attempt sends, byte for byte. */
  sentBody: Fixed<string>;
  /** One that a person asked for; of the others a webhook has one for each event. */
  origin: Fixed<"event" | "test" | "retry">;
  status: (typeof deliveryStatuses)[number];
  attempts: number;
  nextAttemptAt: string | null;
  responseStatus: number | null;
  responseBody: string | null;
  responseTimeMs: number | null;
  errorMessage: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
  deliveredAt: string | null;
}

/** Deliveries of one organization, sent by one server process at a time (docs/integrations.md, "Sending"). */
export interface WebhookQueuesTable {
  orgId: Fixed<string>;
  /** Not later than its first delivery is due; null = none waits. */
  dueAt: string | null;
  /** Counts what concerns the holder: deliveries that are queued, webhooks that change. */
  changes: number;
  holder: string | null;
  heldUntil: string | null;
}

export interface IntegrationTables {
  webhooks: WebhooksTable;
  webhookDeliveries: WebhookDeliveriesTable;
  webhookQueues: WebhookQueuesTable;
}

export const integrationTables = {
  // Who wrote one decides whether it may lead into the operator's own network, so no tenant's connection says who that is.
  webhooks: {
    owner: "org",
    writtenBy: "integrations/webhooks",
    lifted: ["insert", "update", "delete"],
    json: ["events", "headerKeys", "retryPolicy"],
  },
  webhookDeliveries: { owner: "org", writtenBy: "integrations/webhooks" },
  webhookQueues: { owner: "org", writtenBy: "integrations/webhooks" },
} as const satisfies Declared<IntegrationTables>;
