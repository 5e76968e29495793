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
  /** `api-keys.rotate`. */
  operation?: string | undefined;
  /** `/api-keys/8c1f…`: what the request named, without its query. */
  path?: string | undefined;
  details?: unknown;
  /** The other fields of the answer, besides `error`. */
  extra?: Record<string, unknown> | undefined;
  idempotencyKey?: string | undefined;
  /** What the server's `Retry-After` asked for. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Shared by all copies of the package in a process. */
const brand: unique symbol = Symbol.for("rmm.error");

/** Base of everything a call can throw. Holds no header, body or credential, so that it can be printed. */
export class RmmError extends Error {
  /** The class by name: `instanceof` goes by it, also across copies of the package and after a minifier. */
  static readonly kind: string = "RmmError";

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
  readonly path: string | undefined;
  readonly details: unknown;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = new.target.kind;
    this.status = facts.status;
    this.code = facts.code ?? "UNKNOWN";
    this.requestId = facts.requestId;
    this.retryable = facts.retryable ?? false;
    this.outcome = facts.outcome;
    this.operation = facts.operation;
    this.path = facts.path;
    this.details = facts.details;
    this.extra = facts.extra ?? {};
    this.retryAfterMs = facts.retryAfterMs;
    Object.defineProperty(this, brand, { value: kindsOf(new.target) });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: the class on the right of `instanceof`
    return isInstance(this, value);
  }

  toJSON(): Record<string, unknown> {
    const { name, message, status, code, requestId, retryable, outcome, operation, path, details } = this;
    return { name, message, status, code, requestId, retryable, outcome, operation, path, details };
  }
}

/** A class that a program derives from one of these has no `kind` of its own and goes by its prototype. */
function isInstance(of: typeof RmmError, value: unknown): boolean {
  if (!Object.hasOwn(of, "kind")) return Function.prototype[Symbol.hasInstance].call(of, value);
  return (value as { [brand]?: readonly string[] } | null | undefined)?.[brand]?.includes(of.kind) === true;
}

function kindsOf(target: typeof RmmError): string[] {
  const kinds: string[] = [];
  for (let one = target; typeof one === "function"; one = Object.getPrototypeOf(one)) {
    if (Object.hasOwn(one, "kind")) kinds.push(one.kind);
  }
  return kinds;
}
