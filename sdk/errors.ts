import { type ErrorFacts, RmmError } from "./rmm-error.ts";

export { type ErrorFacts, type Outcome, RmmError } from "./rmm-error.ts";

export interface Issue {
  path: string;
  message: string;
}

/** 400 `VALIDATION_ERROR`, or the same found before sending (`validate: "strict"`). */
export class ValidationError extends RmmError {
  static override readonly kind = "ValidationError";

  get issues(): readonly Issue[] {
    return Array.isArray(this.details) ? (this.details as Issue[]) : [];
  }
}
/** Any other 400. */
export class BadRequestError extends RmmError {
  static override readonly kind = "BadRequestError";
}

/** 401. */
export class UnauthenticatedError extends RmmError {
  static override readonly kind = "UnauthenticatedError";
}

/** 403. */
export class ForbiddenError extends RmmError {
  static override readonly kind = "ForbiddenError";
}

/** A second factor is missing: `MFA_REQUIRED`, `MFA_ENROLLMENT_REQUIRED` or `STEP_UP_REQUIRED`. */
export class MfaRequiredError extends RmmError {
  static override readonly kind = "MfaRequiredError";
}

/** 404. */
export class NotFoundError extends RmmError {
  static override readonly kind = "NotFoundError";
}

/** 409: the state does not allow it. Never retried. */
export class ConflictError extends RmmError {
  static override readonly kind = "ConflictError";
}

/** 410. */
export class GoneError extends RmmError {
  static override readonly kind = "GoneError";
}

/** 412. */
export class PreconditionError extends RmmError {
  static override readonly kind = "PreconditionError";
}

/** 413. */
export class PayloadTooLargeError extends RmmError {
  static override readonly kind = "PayloadTooLargeError";
}

/** 422. */
export class UnprocessableError extends RmmError {
  static override readonly kind = "UnprocessableError";
}

/** 429. */
export class RateLimitError extends RmmError {
  static override readonly kind = "RateLimitError";

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
export class UnavailableError extends RmmError {
  static override readonly kind = "UnavailableError";
}

/** Any other 5xx, or an unexpected answer. */
export class ServerError extends RmmError {
  static override readonly kind = "ServerError";
}

/** No connection, or it broke before an answer to a call that changes nothing. */
export class ConnectionError extends RmmError {
  static override readonly kind = "ConnectionError";
}

/** Time ran out, on a call that changes nothing or before it was sent. */
export class TimeoutError extends RmmError {
  static override readonly kind = "TimeoutError";
}

/** The caller's signal. */
export class AbortedError extends RmmError {
  static override readonly kind = "AbortedError";

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts);
    this.name = "AbortError";
  }
}

/** The request was sent but not answered: it may have been done. Repeat it with the same idempotency key, or read the row. */
export class OutcomeUnknownError extends RmmError {
  static override readonly kind = "OutcomeUnknownError";

  readonly idempotencyKey: string | undefined;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts);
    this.idempotencyKey = facts.idempotencyKey;
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), idempotencyKey: this.idempotencyKey };
  }
}

/** The client's credential cannot call this endpoint; nothing was sent. */
export class CredentialError extends RmmError {
  static override readonly kind = "CredentialError";
}

/** The answer is not what the contract says. */
export class ResponseInvalidError extends RmmError {
  static override readonly kind: string = "ResponseInvalidError";

  get issues(): readonly Issue[] {
    return Array.isArray(this.details) ? (this.details as Issue[]) : [];
  }
}

/** `NOT_AN_RMM_SERVER`: whatever answers at this address is no rmm server, or not the whole of its address was given. */
export class NotRmmServerError extends ResponseInvalidError {
  static override readonly kind = "NotRmmServerError";
}
