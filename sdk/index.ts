export { ApiCall, ListCall } from "./call.ts";
export { createClient, type RmmClient } from "./client.ts";
export type { CredentialKind, Credentials } from "./credential.ts";
export type { Deprecation } from "./deprecation.ts";
export type { EndpointInfo } from "./endpoint-info.ts";
export * from "./errors.ts";
export type { EventData } from "./generated/event-data.ts";
export type * from "./generated/models/index.ts";
export { isErrorOf, type OperationError, type OperationErrors } from "./operation-error.ts";
export type { CallOptions, ClientOptions, Hooks, Validation } from "./options.ts";
export { Page } from "./paginate.ts";
export { type RetryBudget, retryBudget } from "./retry.ts";
export { memoryStore, type SessionStore, type SessionTokens, type TokenPairAnswer } from "./session.ts";
export { fetchTransport, type RawResponse, type Transport, type TransportRequest } from "./transport.ts";
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookEvent,
  type WebhookFault,
  type WebhookHeaders,
  WebhookVerificationError,
} from "./verify-webhook.ts";
