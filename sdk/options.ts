import type { Credentials } from "./credential.ts";
import type { Deprecation } from "./deprecation.ts";
import type { RmmError } from "./errors.ts";
import type { RetryBudget } from "./retry.ts";
import type { Transport } from "./transport.ts";

/**
 * `off` trusts the server, `warn` reports an answer that breaks the contract, `strict` throws; `strict` also refuses
 * a request that breaks it, before it is sent.
 */
export type Validation = "off" | "warn" | "strict";

/** Everything a hook sees is redacted: no credential, no secret field. */
export interface Hooks {
  onRequest?(event: {
    operation: string;
    method: string;
    url: string;
    headers: Record<string, string>;
    body: unknown;
    attempt: number;
  }): void;
  onResponse?(event: {
    operation: string;
    method: string;
    status: number;
    headers: Readonly<Record<string, string>>;
    requestId: string | undefined;
    durationMs: number;
    attempt: number;
  }): void;
  onRetry?(event: { operation: string; attempt: number; waitMs: number; error: RmmError }): void;
  /** Called once per client and operation that the server will withdraw, even if the call was refused. */
  onDeprecation?(event: Deprecation): void;
  /** Called with `validate: "warn"`; without this hook, a warning is written to the console. */
  onInvalidResponse?(event: { operation: string; issues: readonly { path: string; message: string }[] }): void;
}

export interface ClientOptions {
  /** Address of the server, with or without `/api/v1`. */
  readonly baseUrl: string;
  readonly credentials?: Credentials | undefined;
  /** A `fetch` to use instead of the global one. */
  readonly fetch?: (input: Request | URL | string, init?: RequestInit) => Promise<Response>;
  /** Sends requests instead of ky and fetch: `nodeTransport()` of `rmm/node`, or a test's own. */
  readonly transport?: Transport;
  readonly validate?: Validation;
  /** More attempts after the first; default 2. */
  readonly retries?: number;
  /** Longest pause a server may ask for; beyond it the call fails at once. Default 60 s. */
  readonly maxRetryWaitMs?: number;
  /** For a whole call with its retries; default 120 s. */
  readonly timeoutMs?: number;
  /** For one attempt; default 30 s, or the call's `timeoutMs` where that is given. */
  readonly attemptTimeoutMs?: number;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The trace that calls belong to: the `traceparent` of the current span, asked for at each call. */
  readonly traceparent?: () => string | undefined;
  readonly hooks?: Hooks;
  /** Replaces the budget that all clients of the process share. */
  readonly retryBudget?: RetryBudget;
  readonly now?: () => number;
  readonly random?: () => number;
}

/** Settings of one call; what is left out comes from the client. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly attemptTimeoutMs?: number | undefined;
  readonly retries?: number | undefined;
  /** 8 to 128 printable characters. A POST that the contract calls idempotent gets one of its own otherwise. */
  readonly idempotencyKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** W3C Trace Context, sent with every attempt; one that cannot be read is left out. */
  readonly traceparent?: string | undefined;
  readonly validate?: Validation | undefined;
}
