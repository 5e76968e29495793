import type { EndpointInfo } from "./endpoint-info.ts";
import { ValidationError } from "./errors.ts";
import type { CallOptions } from "./options.ts";
import { redacted, secretsIn } from "./redact.ts";

export interface CallInput {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}

/** A request without its credential. */
export interface Prepared {
  readonly operation: string;
  readonly method: EndpointInfo["method"];
  readonly path: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** The body as a hook may see it. */
  readonly shownBody: unknown;
  /** Secret strings of the body, to be masked wherever an answer repeats them. */
  readonly secrets: readonly string[];
}

/** Refuses NaN and Infinity, which JSON would replace by null. */
function exactly(key: string, value: unknown): unknown {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  throw new TypeError(`${key} is ${value}: JSON has no such number`);
}

/** Builds address, headers and body of a call. */
export function prepare(
  base: string,
  endpoint: EndpointInfo,
  input: CallInput,
  options: CallOptions & { headers?: Readonly<Record<string, string>> | undefined },
): Prepared {
  const { body } = input;
  const path = pathOf(endpoint, input.params ?? {});
  const idempotencyKey = options.idempotencyKey ?? (endpoint.idempotent ? crypto.randomUUID() : undefined);
  return {
    operation: `${endpoint.noun}.${endpoint.verb}`,
    method: endpoint.method,
    path,
    url: `${base}${path}${queryOf(input.query ?? {})}`,
    headers: {
      accept:
        endpoint.transport.startsWith("json") && endpoint.transport !== "json-or-csv" ? "application/json" : "*/*",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(options.traceparent !== undefined && traceContext.test(options.traceparent)
        ? { traceparent: options.traceparent }
        : {}),
      ...(idempotencyKey === undefined ? {} : { "x-idempotency-key": idempotencyKey }),
      ...lowerCased(options.headers ?? {}),
    },
    body: body === undefined ? undefined : JSON.stringify(body, exactly),
    idempotencyKey,
    shownBody: redacted(body, endpoint.secretBody),
    secrets: secretsIn(body, endpoint.secretBody),
  };
}

/** W3C Trace Context. Anything else is not sent: tracing must not fail a call. */
const traceContext = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** `/api-keys/:id` with its values; a missing or empty one would reach another endpoint. */
function pathOf(endpoint: EndpointInfo, params: Readonly<Record<string, string>>): string {
  return endpoint.path.replace(/:([A-Za-z]+)/g, (_, name: string) => {
    const value: unknown = params[name];
    if (value === undefined || value === null || value === "") throw badParameter(endpoint, name, "is missing");
    if (endpoint.uuids.includes(name) && !(typeof value === "string" && uuid.test(value)))
      throw badParameter(endpoint, name, "must be a uuid");
    if (typeof value !== "string" || value === "." || value === "..")
      throw badParameter(endpoint, name, "cannot stand in a path");
    return encodeURIComponent(value);
  });
}

/** The value is not repeated: it may be a secret in the wrong place. */
const badParameter = ({ noun, verb }: EndpointInfo, name: string, message: string) =>
  new ValidationError(`params.${name} ${message}`, {
    code: "VALIDATION_ERROR",
    outcome: "not_sent",
    operation: `${noun}.${verb}`,
    details: [{ path: name, message }],
  });

function queryOf(query: Readonly<Record<string, unknown>>): string {
  const pairs = sentQuery(query).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** A query as it goes out: undefined is left out, an array is joined with commas. */
export const sentQuery = (query: Readonly<Record<string, unknown>>): [string, string][] =>
  Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => [name, textOf(value)]);

const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.map(textOf).join(",") : value instanceof Date ? value.toISOString() : String(value);

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
