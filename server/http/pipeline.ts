import { setMaxListeners } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { asOneOfOpen } from "#server/access/agent-limits";
import { authorize } from "#server/access/authorize";
import { callerKey, nobody, scopeOf } from "#server/access/principal";
import { boundReads, type ReadBounds } from "#server/db/read-bounds";
import { UnitOfWork } from "#server/db/unit-of-work";
import type { Services } from "#server/services";
import { AuditNotes } from "./audit-entry.ts";
import { authenticate } from "./authenticate.ts";
import { armClosing, isPartnerApi, partnerCall, recordRefusal, recordSuccess } from "./closing.ts";
import { isBrowsed } from "./error-page.ts";
import { beginIdempotent, type IdempotentRun, type Remembered, readIdempotencyKey } from "./idempotency.ts";
import type { Implementation } from "./implement.ts";
import { limitRequest } from "./limit-request.ts";
import { begun, makeCall, type Passage } from "./passage.ts";
import { refuseWithoutAccess } from "./replay-check.ts";
import { readJson } from "./request-body.ts";
import type { RequestFacts } from "./request-facts.ts";
import { sendError, sendResult } from "./respond.ts";
import { responseHoldsSecret, responseHoldsTokens } from "./secret-response.ts";
import { readQuery, validate } from "./validate.ts";

interface HttpPassage extends Passage {
  readonly request: IncomingMessage & { params: Record<string, string> };
  readonly response: ServerResponse;
  readonly browsed: boolean;
  readonly rpc: { message: unknown } | undefined;
}

/**
 * Every request passes here (docs/conventions.md, "Order of checks"): authentication → rate limit → partner guard →
 * scope → permission → MFA → validation → handler → audit → answer. Never throws.
 */
export async function answer(
  services: Services,
  implementation: Implementation,
  request: HttpPassage["request"],
  response: ServerResponse,
  facts: RequestFacts,
): Promise<void> {
  let gone: AbortSignal | undefined;
  const passage: HttpPassage = {
    ...begun(services, implementation, facts, nobody),
    request,
    response,
    browsed: isBrowsed(implementation.endpoint, request),
    rpc: implementation.endpoint.transport === "json-rpc" ? { message: undefined } : undefined,
    get gone() {
      // One for the whole call: a long poll looks at it many times, and each would listen to the response.
      gone ??= goneOf(response);
      return gone;
    },
    header: (name) => headerOf(request, name),
    setHeader: (name, value) => response.setHeader(name, value),
  };
  try {
    await pass(passage);
  } catch (error) {
    await recordRefusal(passage, sendError(services, passage, error));
  }
}

async function pass(passage: HttpPassage): Promise<void> {
  const { services, implementation, request, facts } = passage;
  passage.who = await authenticate(services, implementation.endpoint.access, request, facts);
  facts.caller = passage.who;
  await asOneOfOpen(passage.who, () => passKnown(passage));
}

/** What comes once it is known who calls. */
async function passKnown(passage: HttpPassage): Promise<void> {
  const { services, implementation, request, response, facts } = passage;
  const { endpoint } = implementation;
  await limitRequest(services, passage.who, response, endpoint);
  authorize(passage.who, endpoint.access, { mfaGate: services.config.enable2fa });
  const body = await readJson(request, {
    limitBytes: endpoint.bodyLimitBytes,
    inflatedBytes: endpoint.inflatedLimitBytes,
    scrub: endpoint.from === "machine",
  });
  if (passage.rpc) passage.rpc.message = body;
  const input = validate(endpoint, {
    params: request.params,
    query: readQuery(facts.search, endpoint.transport === "redirect"),
    body,
  });
  const unit = new UnitOfWork(services, scopeOf(passage.who));
  boundReads(unit.scope, waitingFor(passage));
  unit.afterRollback(() => passage.events.drop());
  const repeats = endpoint.idempotent && (implementation.handler.repeats?.(input.body) ?? true);
  const key = repeats ? readIdempotencyKey(headerOf(request, "x-idempotency-key")) : undefined;
  if (key === undefined) {
    armClosing(passage, unit);
    const call = makeCall(passage, unit, { ...input, sentBody: body });
    const result = await implementation.handler(call);
    await recordSuccess(passage, unit);
    sendResult(services, endpoint, passage, result, passage.status);
    return;
  }
  await passIdempotent(passage, unit, { key, input, body: input.body });
}

/** The path of the resource, however the client wrote it: upper case, a slash at the end, absolute form. */
const canonicalPath = (path: string, params: unknown): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent((params as Record<string, string>)[name] ?? ""));

interface Keyed {
  key: string;
  input: ReturnType<typeof validate>;
  body: unknown;
}

/** The handler runs in the transaction that stores its answer: both or neither (cases C08). */
async function passIdempotent(passage: HttpPassage, unit: UnitOfWork, { key, input, body }: Keyed): Promise<void> {
  const { services, implementation, response, facts, who } = passage;
  const { endpoint } = implementation;
  const memory = await beginIdempotent(services, {
    caller: callerKey(who, facts.ip, { inSession: responseHoldsTokens(endpoint) }),
    method: endpoint.method,
    path: canonicalPath(endpoint.path, input.params),
    key,
    body,
    secret: responseHoldsSecret(endpoint),
  });
  if (!("finish" in memory)) {
    const { handler } = implementation;
    const call = makeCall(passage, unit, input);
    await refuseWithoutAccess(unit, {
      prepare: async () => handler.prepare?.(call),
      handle: () => handler(call),
    });
    const state = await handler.secretState?.(call, memory.body);
    await recordReplay(passage, unit, { input, remembered: memory });
    response.setHeader("Idempotency-Replayed", "true");
    if (state !== undefined) response.setHeader("Idempotency-Answer", state);
    sendResult(services, endpoint, passage, memory.body, memory.status);
    return;
  }
  const run: IdempotentRun = memory;
  try {
    let result: unknown;
    armClosing(passage, unit, (tx) => run.finish(tx, { status: passage.status, body: result }));
    const call = makeCall(passage, unit, input);
    await implementation.handler.prepare?.(call);
    await unit.transaction(async () => {
      result = await implementation.handler(call);
    });
    sendResult(services, endpoint, passage, result, passage.status);
  } catch (error) {
    await run.abandon();
    throw error;
  }
}

/** An answer from memory leaves an entry where the handler says as what (docs/audit.md, "Which requests are recorded"). */
async function recordReplay(
  passage: Passage,
  unit: UnitOfWork,
  { input, remembered }: { input: Keyed["input"]; remembered: Remembered },
): Promise<void> {
  const { replayed } = passage.implementation.handler;
  if (!replayed) return;
  // What the handler noted when it ran again tells of a change that was rolled back.
  passage.notes = new AuditNotes();
  const told = isPartnerApi(passage) ? { ...partnerCall(passage, remembered.status), recordCount: 1 } : {};
  passage.notes.note({ details: { ...told, replayed: true } });
  replayed(makeCall(passage, unit, input), remembered.body);
  armClosing(passage, unit);
  await unit.transaction(async () => undefined);
}

/** The reads of a request wait no longer than its caller. */
const waitingFor = (passage: HttpPassage): ReadBounds => ({
  get gone() {
    return passage.gone;
  },
});

/** Only where somebody asks: most calls are answered before it matters. */
function goneOf(response: ServerResponse): AbortSignal {
  if (response.destroyed) return AbortSignal.abort();
  const leaving = new AbortController();
  // Every read that waits listens, however many a request has.
  setMaxListeners(0, leaving.signal);
  response.once("close", () => {
    if (!response.writableFinished) leaving.abort();
  });
  return leaving.signal;
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name.toLowerCase()];
  return Array.isArray(value) ? value[0] : value;
}
