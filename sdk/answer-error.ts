import {
  BadRequestError,
  ConflictError,
  type ErrorFacts,
  ForbiddenError,
  GoneError,
  MfaRequiredError,
  NotFoundError,
  NotRmmServerError,
  PayloadTooLargeError,
  PreconditionError,
  RateLimitError,
  type RmmError,
  ServerError,
  UnauthenticatedError,
  UnavailableError,
  UnprocessableError,
  ValidationError,
} from "./errors.ts";
import { scrubbed } from "./redact.ts";
import { parseRetryAfter } from "./retry.ts";
import type { RawResponse } from "./transport.ts";

const byStatus: Record<number, new (message: string, facts: ErrorFacts) => RmmError> = {
  400: BadRequestError,
  401: UnauthenticatedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  412: PreconditionError,
  413: PayloadTooLargeError,
  422: UnprocessableError,
  503: UnavailableError,
};
const mfaCodes = new Set(["MFA_REQUIRED", "MFA_ENROLLMENT_REQUIRED", "STEP_UP_REQUIRED"]);
/** Codes after which it is unknown whether the request took effect. */
const unsettled = new Set(["INTERNAL_ERROR", "AGENT_TIMEOUT"]);
/** Statuses that are retried if the answer has no code, or one of these codes for temporary states. */
const passing = new Set([408, 429, 502, 503, 504]);
const passingCodes = new Set(["RATE_LIMITED", "SERVICE_UNAVAILABLE"]);
/** The first attempt is still running on the server after its connection broke, so wait for its answer. */
const stillRunning = "IDEMPOTENCY_IN_FLIGHT";

const NOT_OURS = ", which no rmm server does: it is from a proxy before it, or from another server";

/** Reads an error answer into its class. `secrets` are masked wherever the answer repeats them. */
export function answerError(
  response: RawResponse,
  text: string,
  context: { operation: string; path: string; address: string; secrets: readonly string[]; nowMs: number },
): RmmError {
  const { status } = response;
  const { error, code, details, ...extra } = envelopeOf(text);
  const retryAfterMs = parseRetryAfter(response.headers.get("retry-after"), context.nowMs);
  const facts = {
    status,
    code: code ?? `HTTP_${status}`,
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryable:
      code === stillRunning ||
      (passing.has(status) && (code === undefined || passingCodes.has(code) || retryAfterMs !== undefined)),
    outcome: status < 500 || (code !== undefined && !unsettled.has(code)) ? "rejected" : "unknown",
    operation: context.operation,
    path: context.path,
    details: scrubbed(details, context.secrets),
    extra: scrubbed(extra, context.secrets),
    retryAfterMs,
  } as const;
  if (isUnknownPath(details) && isRaw(context.operation)) {
    const own = { ...facts, code: "ENDPOINT_NOT_FOUND", details: undefined };
    return new NotFoundError(`${context.address} has no such endpoint`, own);
  }
  if (isForeign(status, code, details) || (isPage(response) && !passing.has(status)))
    return notRmmServer(response, context.address, facts);
  const message =
    error === undefined
      ? `${answeredBy(context.address, response)}${isPage(response) ? NOT_OURS : ""}`
      : scrubbed(error, context.secrets);
  if (code === "VALIDATION_ERROR") return new ValidationError(message, facts);
  if (code !== undefined && mfaCodes.has(code)) return new MfaRequiredError(message, facts);
  if (status === 429) {
    return new RateLimitError(message, {
      ...facts,
      ...(retryAfterMs === undefined ? {} : { retryAt: new Date(context.nowMs + retryAfterMs) }),
      limit: numberIn(response, "x-ratelimit-limit"),
      remaining: numberIn(response, "x-ratelimit-remaining"),
    });
  }
  if (isPage(response) && status >= 500) return new UnavailableError(message, facts);
  return new (byStatus[status] ?? (status >= 400 && status < 500 ? BadRequestError : ServerError))(message, facts);
}

/** Every refusal of an rmm server has a code. */
const isForeign = (status: number, code: string | undefined, details: unknown): boolean =>
  code === undefined ? status < 500 && !passing.has(status) : isUnknownPath(details);

/** An rmm server refuses and fails in JSON: a page comes from what stands before it, or in its place. */
const isPage = ({ headers }: RawResponse): boolean => headers.get("content-type")?.includes("html") ?? false;

/** The answer of an rmm server to an unknown path. For one of the contract the server may be mounted below another path. */
const isUnknownPath = (details: unknown): boolean => (details as { path?: unknown } | null)?.path === "unknown";

/** A path that the caller wrote: the contract does not vouch for it. */
const isRaw = (operation: string): boolean => operation.startsWith("raw.");

function answeredBy(address: string, response: RawResponse): string {
  return `${address} answered ${response.status}${isPage(response) ? " with a web page" : ""}`;
}

/** An answer that is not from this API: a web page, a redirect, another API, or an rmm server below another path. */
export function notRmmServer(response: RawResponse, address: string, facts: ErrorFacts): NotRmmServerError {
  const location = response.headers.get("location");
  const what =
    location !== null && URL.canParse(location, address)
      ? `redirects to ${new URL(location, address).origin}`
      : isUnknownPath(facts.details)
        ? "knows no such path"
        : undefined;
  const said = what === undefined ? answeredBy(address, response) : `${address} ${what}`;
  const message = `${said}: is this the address of an rmm server?`;
  return new NotRmmServerError(message, { ...facts, details: undefined, code: "NOT_AN_RMM_SERVER", retryable: false });
}

interface Envelope {
  error?: string;
  code?: string;
  details?: unknown;
  [beside: string]: unknown;
}

/** A proxy may answer with HTML or nothing: then only the status is known. */
function envelopeOf(text: string): Envelope {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return {};
    const { error, code, ...rest } = parsed as Record<string, unknown>;
    const inRpc = rpcEnvelope(error);
    if (inRpc) return inRpc;
    return {
      ...rest,
      ...(typeof error === "string" ? { error } : {}),
      ...(typeof code === "string" ? { code } : {}),
    };
  } catch {
    return {};
  }
}

/** An error of JSON-RPC carries the code and the details of this API in its data. */
function rpcEnvelope(error: unknown): Envelope | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { message, data } = error as { message?: unknown; data?: { code?: unknown; issues?: unknown } | null };
  if (typeof message !== "string" || typeof data?.code !== "string") return undefined;
  const { code, issues, ...details } = data;
  return { error: message, code, details: issues ?? details };
}

function numberIn(response: RawResponse, header: string): number | undefined {
  const value = response.headers.get(header);
  return value !== null && /^\d+$/.test(value) ? Number(value) : undefined;
}
