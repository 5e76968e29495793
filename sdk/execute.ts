import { attemptOnce, stopped } from "./attempt.ts";
import { type Answer, type Call, type Core, tell } from "./core.ts";
import { type Presented, requireKind } from "./credential.ts";
import { deadline } from "./deadline.ts";
import type { EndpointInfo } from "./endpoint-info.ts";
import { CredentialError, OutcomeUnknownError, RmmError } from "./errors.ts";
import type { CallOptions, ClientOptions } from "./options.ts";
import { type CallInput, type Prepared, prepare } from "./prepare.ts";
import { backoffMs, isRepeatable, pause, processBudget } from "./retry.ts";

/** Makes one call with its retries. Throws an `RmmError`; with `streamed` the body is left unread. */
export async function execute(
  core: Core,
  endpoint: EndpointInfo,
  input: CallInput,
  options: CallOptions,
  streamed: boolean,
): Promise<Answer> {
  if (core.credential.kind !== undefined) requireKind(endpoint, core.credential.kind);
  const headers = { ...core.options.headers, ...options.headers };
  const prepared = prepare(core.base, endpoint, input, {
    ...options,
    headers,
    traceparent: options.traceparent ?? traceOf(core.options),
  });
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

/** If an earlier attempt may have been done, a later failure leaves the outcome unknown. */
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

async function presentedOf({ core, endpoint, total, prepared }: Call): Promise<Presented | undefined> {
  if (endpoint.kinds.includes("public")) return undefined;
  const presented = await unlessStopped({ total, prepared }, core.credential.present(total.signal));
  requireKind(endpoint, presented.kind);
  if (!/^[\x21-\x7e]+$/.test(presented.secret)) {
    throw new CredentialError("The credential is empty or has a character that no header can carry", {
      code: "MALFORMED_CREDENTIAL",
      outcome: "not_sent",
      operation: prepared.operation,
    });
  }
  return presented;
}

async function unlessStopped<T>(call: Pick<Call, "total" | "prepared">, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw call.total.signal.aborted ? stopped(call.total, call.prepared, "not_sent") : error;
  }
}

const traceOf = ({ traceparent }: ClientOptions) => (traceparent === undefined ? undefined : tell(traceparent));
