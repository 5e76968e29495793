import type { ServerResponse } from "node:http";
import type { AnyEndpoint, Transport } from "#contract/core/endpoint";
import type { ErrorBody } from "#contract/core/errors";
import { isUnavailable } from "#server/db/dialect/unavailable";
import { pageHeaders } from "#server/platform/html-page";
import { Problem, problem } from "#server/problem";
import type { Services } from "#server/services";
import { errorPage } from "./error-page.ts";
import { JsonText, StreamedAnswer } from "./implement.ts";
import type { RequestFacts } from "./request-facts.ts";
import { rpcRefusal } from "./rpc-refusal.ts";
import { sendStream } from "./send-stream.ts";

/** The response to write to. */
interface Recipient {
  readonly response: ServerResponse;
  readonly facts: Pick<RequestFacts, "requestId">;
  /** A person reads the answer: an error is a page, not JSON. */
  readonly browsed?: boolean;
  /** The message of JSON-RPC that is answered: its errors are those of that protocol. */
  readonly rpc?: { readonly message: unknown } | undefined;
}

export function sendResult(
  services: Services,
  endpoint: AnyEndpoint,
  to: Recipient,
  result: unknown,
  status: number = endpoint.status,
): void {
  if (result instanceof StreamedAnswer) {
    to.response.writeHead(status, headersOf(to, result.type));
    void sendStream(to.response, result.parts).catch((error) => void toldProblem(services, to.facts, error));
    return;
  }
  senders[endpoint.transport](to, status, result);
}

type Sender = (to: Recipient, status: number, result: unknown) => void;

const CSV = "text/csv; charset=utf-8";
const TEXT = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json; charset=utf-8";

/** How each transport of the contract is answered; one that cannot be does not compile. */
const senders = {
  json: (to, status, result) => write(to, status, jsonOf(result), JSON_TYPE),
  // A notification has no answer.
  "json-rpc": (to, status, result) =>
    result === undefined ? write(to, status, "", TEXT) : write(to, status, jsonOf(result), JSON_TYPE),
  // The version is that of the metrics' text format.
  text: (to, status, result) => write(to, status, result as string, "text/plain; version=0.0.4; charset=utf-8"),
  html: (to, status, result) => write(to, status, result as string, "text/html; charset=utf-8"),
  redirect: (to, status, result) => redirect(to, status, result as { location: string }),
  csv: (to, status, result) => write(to, status, result as string, CSV),
  "json-or-csv": (to, status, result) =>
    typeof result === "string" ? write(to, status, result, CSV) : senders.json(to, status, result),
} satisfies Record<Transport, Sender>;

/** The location may carry a one-time code: it is not cached and no page learns it from a `Referer`. */
function redirect(to: Recipient, status: number, { location }: { location: string }): void {
  to.response.setHeader("Location", location);
  to.response.setHeader("Referrer-Policy", "no-referrer");
  write(to, status, "", TEXT);
}

const jsonOf = (result: unknown): string => (result instanceof JsonText ? result.text : JSON.stringify(result));

/** Sends the error and returns it; anything that is not a `Problem` becomes a 500 without internals. */
export function sendError(services: Services, to: Recipient, error: unknown): Problem {
  const { response, facts } = to;
  const told = toldProblem(services, facts, error);
  const body: ErrorBody & Record<string, unknown> = { error: told.message, code: told.code };
  if (told.options.details !== undefined) body.details = told.options.details;
  if (told.status >= 500)
    body.details = { ...(told.options.details as object | undefined), requestId: facts.requestId };
  Object.assign(body, told.options.beside);
  if (response.headersSent || response.destroyed) return told;
  const wait = told.options.retryAfterSeconds;
  if (wait !== undefined) response.setHeader("Retry-After", String(wait));
  // The rest of an oversized body is never read, so the connection cannot be used again.
  if (told.status === 413) response.setHeader("Connection", "close");
  const rpc = to.rpc && rpcRefusal(told, to.rpc.message, facts.requestId);
  if (to.browsed) sendPage(to, told.status, errorPage(told, facts.requestId));
  else write(to, rpc?.status ?? told.status, JSON.stringify(rpc?.body ?? body), JSON_TYPE);
  return told;
}

/** A page without script. */
export function sendPage(to: Recipient, status: number, html: string): void {
  for (const [name, value] of Object.entries(pageHeaders())) to.response.setHeader(name, value);
  write(to, status, html, "text/html; charset=utf-8");
}

/** What the caller is told of an error; a fault of this server goes to the log. */
export function toldProblem(services: Services, facts: Recipient["facts"], error: unknown): Problem {
  const told = tell(error);
  if (told.status >= 500)
    services.log.error("request.failed", { requestId: facts.requestId, code: told.code, cause: error as Error });
  return told;
}

function tell(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isUnavailable(error)) return problem("SERVICE_UNAVAILABLE", { cause: error, retryAfterSeconds: 1 });
  return problem("INTERNAL_ERROR", { cause: error });
}

function write(to: Recipient, status: number, text: string, type: string): void {
  to.response.writeHead(status, { ...headersOf(to, type), "Content-Length": Buffer.byteLength(text) });
  to.response.end(text);
}

const headersOf = ({ facts }: Recipient, type: string) => ({
  "X-Request-Id": facts.requestId,
  "Content-Type": type,
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
});
