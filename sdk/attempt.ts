import { answerError } from "./answer-error.ts";
import { type Answer, type Call, tell } from "./core.ts";
import type { Presented } from "./credential.ts";
import { type Deadline, deadline } from "./deadline.ts";
import { deprecationOf } from "./deprecation.ts";
import { AbortedError, ConnectionError, OutcomeUnknownError, RmmError, TimeoutError } from "./errors.ts";
import type { Prepared } from "./prepare.ts";
import { redacted, scrubbed } from "./redact.ts";
import { isRepeatable } from "./retry.ts";
import { failureOf, type RawResponse } from "./transport.ts";

/** Sends the request once. Throws an `RmmError`, also for an answer that is a refusal. */
export async function attemptOnce(call: Call, attempt: number, presented: Presented | undefined): Promise<Answer> {
  const { core, prepared, total } = call;
  if (total.signal.aborted) throw stopped(total, prepared, "not_sent");
  const limit = deadline(total.signal, call.attemptMs, prepared.operation);
  const secrets = presented === undefined ? prepared.secrets : [...prepared.secrets, presented.secret];
  const { operation, path, method, url, shownBody } = prepared;
  const shown = redacted(prepared.headers) as Record<string, string>;
  for (const header of Object.keys(headerOf(presented))) shown[header] = "********";
  tell(() => core.hooks.onRequest?.({ operation, method, url, headers: shown, body: shownBody, attempt }));
  const started = performance.now();
  try {
    const response = await core.transport({
      method,
      url,
      headers: { ...prepared.headers, ...headerOf(presented) },
      body: prepared.body,
      signal: limit.signal,
    });
    const redirected = call.endpoint.transport === "redirect" && response.status === call.endpoint.status;
    const refused = !redirected && (response.status < 200 || response.status >= 300);
    const text = call.streamed && !refused ? "" : await response.text();
    const requestId = response.headers.get("x-request-id") ?? undefined;
    const durationMs = performance.now() - started;
    const { status } = response;
    tell(() => {
      if (core.hooks.onResponse === undefined) return;
      core.hooks.onResponse({
        operation,
        method,
        status,
        headers: shownHeaders(response),
        requestId,
        durationMs,
        attempt,
      });
    });
    tellDeprecation(call, response);
    if (refused)
      throw answerError(response, text, { operation, path, address: core.address, secrets, nowMs: core.now() });
    return { response, text };
  } catch (error) {
    const answered = error instanceof RmmError && error !== limit.signal.reason;
    throw answered ? error : failed(call, limit, error, secrets);
  } finally {
    limit.end();
  }
}

/** Without cookies and the like. */
function shownHeaders({ headers }: RawResponse): Record<string, string> {
  const all: Record<string, string> = {};
  headers.forEach((value, name) => {
    all[name] = value;
  });
  return redacted(all) as Record<string, string>;
}

function headerOf(presented: Presented | undefined): Record<string, string> {
  if (presented === undefined) return {};
  const { kind, secret } = presented;
  return kind === "user" || kind === "agent" ? { authorization: `Bearer ${secret}` } : { "x-api-key": secret };
}

/** Once per client and operation. */
function tellDeprecation({ core, prepared: { operation } }: Call, { headers }: RawResponse): void {
  if (core.hooks.onDeprecation === undefined || core.deprecated.has(operation)) return;
  const deprecation = deprecationOf(operation, headers);
  if (deprecation === undefined) return;
  core.deprecated.add(operation);
  tell(() => core.hooks.onDeprecation?.(deprecation));
}

/** The error for a request without an answer: what stopped it, and whether it may have been done. */
function failed(call: Call, limit: Deadline, error: unknown, secrets: readonly string[]): RmmError {
  const { prepared, endpoint, total, core } = call;
  const changes = endpoint.method !== "GET";
  if (total.signal.aborted && total.signal.reason instanceof AbortedError) {
    return stopped(total, prepared, changes ? "unknown" : "rejected");
  }
  const late = limit.signal.aborted;
  const { sent, code, message, proxy } = failureOf(error);
  const facts = {
    code: late ? "TIMEOUT" : sent ? "CONNECTION_LOST" : "CONNECTION_FAILED",
    outcome: sent || late ? "unknown" : "not_sent",
    operation: prepared.operation,
    idempotencyKey: prepared.idempotencyKey,
    retryable: true,
    details: code === undefined ? undefined : { reason: code, ...(proxy === undefined ? {} : { proxy }) },
    cause: new Error(scrubbed(message, secrets)),
  } as const;
  const way = proxy === undefined ? core.address : `${core.address} through the proxy ${proxy}`;
  if (changes && facts.outcome === "unknown") {
    const retryable = isRepeatable(endpoint, prepared.idempotencyKey);
    const what = late ? `No answer from ${way} in time` : `The connection to ${way} broke before the answer`;
    return new OutcomeUnknownError(`${what}: the call may have been carried out`, { ...facts, retryable });
  }
  if (late) return new TimeoutError(`No answer from ${way} in time`, facts);
  const why = code === undefined ? "" : ` (${code})`;
  return new ConnectionError(
    sent ? `The connection to ${way} broke${why}` : `Could not connect to ${way}${why}`,
    facts,
  );
}

/** The error of a call that was aborted or timed out. */
export function stopped(
  total: Deadline,
  { operation, idempotencyKey }: Prepared,
  outcome: RmmError["outcome"],
): RmmError {
  const facts = { operation, idempotencyKey, outcome };
  return total.signal.reason instanceof TimeoutError
    ? new TimeoutError("No answer in time", { ...facts, code: "TIMEOUT", retryable: true })
    : new AbortedError("The call was aborted", { ...facts, code: "ABORTED", cause: total.signal.reason?.cause });
}
