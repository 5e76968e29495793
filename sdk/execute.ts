import { answerError } from "./answer-error.ts";
import { type Credential, requireKind } from "./credential.ts";
import { type Deadline, deadline } from "./deadline.ts";
import type { EndpointInfo } from "./endpoint-info.ts";
import {
  AbortedError,
  ConnectionError,
  CredentialError,
  OutcomeUnknownError,
  RmmError,
  TimeoutError,
} from "./errors.ts";
import type { CallOptions, ClientOptions, Hooks } from "./options.ts";
import { type CallInput, type Prepared, prepare } from "./prepare.ts";
import { redacted, scrubbed } from "./redact.ts";
import { backoffMs, isRepeatable, pause, processBudget } from "./retry.ts";
import { failureOf, type RawResponse, type Transport } from "./transport.ts";

/** What all calls of a client share. */
export interface Core {
  readonly base: string;
  /** For messages: as it was given, without a user or password. */
  readonly address: string;
  readonly transport: Transport;
  readonly credential: Credential;
  readonly options: ClientOptions;
  readonly hooks: Hooks;
  readonly now: () => number;
  readonly random: () => number;
}

export interface Answer {
  readonly response: RawResponse;
  /** The whole body; empty when the caller wanted to read it itself. */
  readonly text: string;
}

interface Call {
  readonly core: Core;
  readonly endpoint: EndpointInfo;
  readonly prepared: Prepared;
  readonly total: Deadline;
  readonly attemptMs: number;
  readonly streamed: boolean;
}

/** Makes one call with its retries. Throws an `RmmError`; with `streamed` the body is left unread. */
export async function execute(
  core: Core,
  endpoint: EndpointInfo,
  input: CallInput,
  options: CallOptions,
  streamed: boolean,
): Promise<Answer> {
  requireKind(endpoint, core.credential);
  const headers = { ...core.options.headers, ...options.headers };
  const prepared = prepare(core.base, endpoint, input, { ...options, headers });
  const timeoutMs = options.timeoutMs ?? core.options.timeoutMs ?? 120_000;
  const attemptMs = options.attemptTimeoutMs ?? options.timeoutMs ?? core.options.attemptTimeoutMs ?? 30_000;
  const total = deadline(options.signal, timeoutMs, prepared.operation);
  try {
    const retries = options.retries ?? core.options.retries ?? 2;
    return await attempts({ core, endpoint, prepared, total, attemptMs, streamed }, retries);
  } finally {
    total.end();
  }
}

async function attempts(call: Call, retries: number): Promise<Answer> {
  const { core, endpoint, prepared, total } = call;
  const budget = core.options.retryBudget ?? processBudget;
  const repeatable = isRepeatable(endpoint, prepared.idempotencyKey);
  let mayBeDone = false;
  budget.earn();
  for (let attempt = 1; ; attempt++) {
    try {
      return await renewingOnce(call, attempt);
    } catch (error) {
      if (!(error instanceof RmmError)) throw error;
      mayBeDone ||= error.outcome === "unknown" && endpoint.method !== "GET";
      const waitMs = error.retryAfterMs ?? backoffMs(attempt, core.random);
      const allowed = repeatable && error.retryable && attempt <= retries && !total.signal.aborted;
      const affordable = waitMs <= (core.options.maxRetryWaitMs ?? 60_000) && waitMs < total.leftMs();
      if (!allowed || !affordable || !budget.spend()) throw settled(error, mayBeDone, prepared);
      tell(() => core.hooks.onRetry?.({ operation: prepared.operation, attempt, waitMs, error }));
      await pause(waitMs, total.signal).catch(() => {
        throw stopped(total, prepared, mayBeDone ? "unknown" : error.outcome === "not_sent" ? "not_sent" : "rejected");
      });
    }
  }
}

/** A later failure says nothing about an earlier attempt that may have been done. */
function settled(error: RmmError, mayBeDone: boolean, prepared: Prepared): RmmError {
  if (!mayBeDone || error.outcome === "unknown" || !(error.retryable || error.outcome === "not_sent")) return error;
  return new OutcomeUnknownError(`${error.message}; an earlier attempt may have been carried out`, {
    status: error.status,
    code: error.code,
    requestId: error.requestId,
    retryable: error.retryable,
    retryAfterMs: error.retryAfterMs,
    operation: error.operation,
    details: error.details,
    outcome: "unknown",
    idempotencyKey: prepared.idempotencyKey,
    cause: error,
  });
}

/** One attempt; a refused access token is replaced once, which costs no retry: the call was not carried out. */
async function renewingOnce(call: Call, attempt: number): Promise<Answer> {
  const { credential } = call.core;
  const { signal } = call.total;
  const presented = await presentedOf(call);
  try {
    return await attemptOnce(call, attempt, presented);
  } catch (error) {
    const stale = error instanceof RmmError && error.status === 401 && error.code === "UNAUTHENTICATED";
    if (!stale || presented === undefined || credential.session === undefined) throw error;
    const renewed = await unlessStopped(call, credential.session.renew(presented.secret, signal));
    if (!renewed) throw error;
    return attemptOnce(call, attempt, await presentedOf(call));
  }
}

type Presented = Awaited<ReturnType<Credential["present"]>>;

async function presentedOf({ core, endpoint, total, prepared }: Call): Promise<Presented | undefined> {
  if (endpoint.kinds.includes("public")) return undefined;
  const presented = await unlessStopped({ total, prepared }, core.credential.present(total.signal));
  const secret = presented.secret.trim();
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    throw new CredentialError("The credential is empty or has a character that no header can carry", {
      code: "MALFORMED_CREDENTIAL",
      outcome: "not_sent",
      operation: prepared.operation,
    });
  }
  return { ...presented, secret };
}

async function unlessStopped<T>(call: Pick<Call, "total" | "prepared">, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw call.total.signal.aborted ? stopped(call.total, call.prepared, "not_sent") : error;
  }
}

async function attemptOnce(call: Call, attempt: number, presented: Presented | undefined): Promise<Answer> {
  const { core, prepared, total } = call;
  if (total.signal.aborted) throw stopped(total, prepared, "not_sent");
  const limit = deadline(total.signal, call.attemptMs, prepared.operation);
  const secrets = presented === undefined ? prepared.secrets : [...prepared.secrets, presented.secret];
  const { operation, method, url, shownBody } = prepared;
  const shown = redacted(prepared.headers) as Record<string, string>;
  if (presented !== undefined) shown[presented.header] = "********";
  tell(() => core.hooks.onRequest?.({ operation, method, url, headers: shown, body: shownBody, attempt }));
  const started = performance.now();
  try {
    const response = await core.transport({
      method,
      url,
      headers: presented === undefined ? prepared.headers : { ...prepared.headers, ...headerOf(presented) },
      body: prepared.body,
      signal: limit.signal,
    });
    const redirected = call.endpoint.transport === "redirect" && response.status === call.endpoint.status;
    const refused = !redirected && (response.status < 200 || response.status >= 300);
    const text = call.streamed && !refused ? "" : await response.text();
    const requestId = response.headers.get("x-request-id") ?? undefined;
    const durationMs = performance.now() - started;
    tell(() => core.hooks.onResponse?.({ operation, status: response.status, requestId, durationMs, attempt }));
    if (refused)
      throw answerError(response, text, {
        operation,
        address: core.address,
        secrets,
        nowMs: core.now(),
      });
    return { response, text };
  } catch (error) {
    const answered = error instanceof RmmError && error !== limit.signal.reason;
    throw answered ? error : failed(call, limit, error, secrets);
  } finally {
    limit.end();
  }
}

const headerOf = ({ header, secret }: Presented): Record<string, string> => ({
  [header]: header === "authorization" ? `Bearer ${secret}` : secret,
});

/** No answer came: who stopped it, and may it have been done? */
function failed(call: Call, limit: Deadline, error: unknown, secrets: readonly string[]): RmmError {
  const { prepared, endpoint, total } = call;
  const { address } = call.core;
  const changes = endpoint.method !== "GET";
  if (total.signal.aborted && total.signal.reason instanceof AbortedError)
    return stopped(total, prepared, changes ? "unknown" : "rejected");
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
  const way = proxy === undefined ? address : `${address} through the proxy ${proxy}`;
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

function stopped(total: Deadline, { operation, idempotencyKey }: Prepared, outcome: RmmError["outcome"]): RmmError {
  const facts = { operation, idempotencyKey, outcome };
  return total.signal.reason instanceof TimeoutError
    ? new TimeoutError("No answer in time", { ...facts, code: "TIMEOUT", retryable: true })
    : new AbortedError("The call was aborted", { ...facts, code: "ABORTED" });
}

/** A hook that fails must not fail the call. */
function tell(hook: () => void): void {
  try {
    hook();
  } catch {
    // The caller's own reporting is broken; the call is not.
  }
}
