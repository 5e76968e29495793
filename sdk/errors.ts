/**
 * What became of the request: it never left (`not_sent`), the server refused it or it changes nothing (`rejected`), or it
 * may have been done (`unknown`): ask before doing it again.
 */
export type Outcome = "not_sent" | "rejected" | "unknown";

export interface ErrorFacts {
  status?: number | undefined;
  code?: string | undefined;
  requestId?: string | undefined;
  retryable?: boolean;
  outcome: Outcome;
  /** `apiKeys.rotate`. */
  operation?: string | undefined;
  details?: unknown;
  /** What stands beside `error` at the top level of the answer. */
  extra?: Record<string, unknown> | undefined;
  idempotencyKey?: string | undefined;
  /** What the server's `Retry-After` asked for. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Base of everything a call can throw. Holds no header, body or credential, so that it can be printed. */
export class RmmError extends Error {
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /**
   * Code of the API (docs/conventions.md, "Errors"), or one of the client: `CONNECTION_FAILED`, `TIMEOUT`, `ABORTED` …
   */
  readonly code: string;
  readonly requestId: string | undefined;
  /** True when the same call may succeed later. */
  readonly retryable: boolean;
  readonly outcome: Outcome;
  readonly operation: string | undefined;
  readonly details: unknown;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = new.target.name;
    this.status = facts.status;
    this.code = facts.code ?? "UNKNOWN";
    this.requestId = facts.requestId;
    this.retryable = facts.retryable ?? false;
    this.outcome = facts.outcome;
    this.operation = facts.operation;
    this.details = facts.details;
    this.extra = facts.extra ?? {};
    this.retryAfterMs = facts.retryAfterMs;
  }

  toJSON(): Record<string, unknown> {
    const { name, message, status, code, requestId, retryable, outcome, operation, details } = this;
    return { name, message, status, code, requestId, retryable, outcome, operation, details };
  }
}

export interface Issue {
  path: string;
  message: string;
}

/** 400 `VALIDATION_ERROR`, or the same told before sending (`validate: "strict"`). */
export class ValidationError extends RmmError {
  get issues(): readonly Issue[] {
    return Array.isArray(this.details) ? (this.details as Issue[]) : [];
  }
}
/** Any other 400. */
export class BadRequestError extends RmmError {}
/** 401. */
export class UnauthenticatedError extends RmmError {}
/** 403. */
export class ForbiddenError extends RmmError {}
/** A second factor is missing: `MFA_REQUIRED`, `MFA_ENROLLMENT_REQUIRED` or `STEP_UP_REQUIRED`. */
export class MfaRequiredError extends RmmError {}
/** 404. */
export class NotFoundError extends RmmError {}
/** 409: the state does not allow it. Never retried. */
export class ConflictError extends RmmError {}
/** 410. */
export class GoneError extends RmmError {}
/** 412. */
export class PreconditionError extends RmmError {}
/** 413. */
export class PayloadTooLargeError extends RmmError {}
/** 422. */
export class UnprocessableError extends RmmError {}

/** 429. */
export class RateLimitError extends RmmError {
  /** When to come back, if the server said. */
  readonly retryAt: Date | undefined;
  readonly limit: number | undefined;
  readonly remaining: number | undefined;

  constructor(message: string, facts: ErrorFacts & { retryAt?: Date; limit?: number; remaining?: number }) {
    super(message, facts);
    this.retryAt = facts.retryAt;
    this.limit = facts.limit;
    this.remaining = facts.remaining;
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), retryAt: this.retryAt, limit: this.limit, remaining: this.remaining };
  }
}

/** 503: not now. */
export class UnavailableError extends RmmError {}
/** Any other 5xx, or an answer no one expects. */
export class ServerError extends RmmError {}

/** No connection, or it broke before an answer to a call that changes nothing. */
export class ConnectionError extends RmmError {}
/** Time ran out, on a call that changes nothing or before it was sent. */
export class TimeoutError extends RmmError {}
/** The caller's signal. */
export class AbortedError extends RmmError {
  constructor(message: string, facts: ErrorFacts) {
    super(message, facts);
    this.name = "AbortError";
  }
}

/** The request was sent and no answer came: it may have been done. Repeat it with the same idempotency key, or look. */
export class OutcomeUnknownError extends RmmError {
  readonly idempotencyKey: string | undefined;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts);
    this.idempotencyKey = facts.idempotencyKey;
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), idempotencyKey: this.idempotencyKey };
  }
}

/** The credential at hand cannot open this endpoint; nothing was sent. */
export class CredentialError extends RmmError {}
/** The answer is not what the contract says. */
export class ResponseInvalidError extends RmmError {
  get issues(): readonly Issue[] {
    return Array.isArray(this.details) ? (this.details as Issue[]) : [];
  }
}
/** `NOT_AN_RMM_SERVER`: whatever answers at this address is no rmm server, or not the whole of its address was given. */
export class NotRmmServerError extends ResponseInvalidError {}
