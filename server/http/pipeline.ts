import { setMaxListeners } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { mutates } from "#contract/core/endpoint";
import { authorize } from "#server/access/authorize";
import { callerKey, nobody, type Principal, scopeOf } from "#server/access/principal";
import { auditHandle } from "#server/audit/handle";
import { enqueueAudit } from "#server/audit/outbox";
import { boundReads, type ReadBounds } from "#server/db/read-bounds";
import { UnitOfWork } from "#server/db/unit-of-work";
import { eventRow, storeEvents } from "#server/events/emit";
import type { Problem } from "#server/problem";
import type { Services } from "#server/services";
import { AuditNotes } from "./audit-entry.ts";
import { authenticate } from "./authenticate.ts";
import type { Call } from "./call.ts";
import { isBrowsed } from "./error-page.ts";
import { beginIdempotent, type IdempotentRun, type Remembered, readIdempotencyKey } from "./idempotency.ts";
import type { Implementation } from "./implement.ts";
import { limitRequest } from "./limit-request.ts";
import { refuseWithoutAccess } from "./replay-check.ts";
import { readJson } from "./request-body.ts";
import type { RequestFacts } from "./request-facts.ts";
import { sendError, sendResult } from "./respond.ts";
import { responseHoldsSecret, responseHoldsTokens } from "./secret-response.ts";
import { ToldEvents } from "./told-events.ts";
import { readQuery, validate } from "./validate.ts";

/** Everything one request carries through the pipeline. */
interface Passage {
  services: Services;
  implementation: Implementation;
  request: IncomingMessage & { params: Record<string, string> };
  response: ServerResponse;
  facts: RequestFacts;
  notes: AuditNotes;
  events: ToldEvents;
  who: Principal;
  status: number;
  written: boolean;
  readonly browsed: boolean;
  readonly startedMs: number;
}

/**
 * Every request passes here (docs/conventions.md, "Order of checks"): authentication → rate limit → partner guard →
 * scope → permission → MFA → validation → handler → audit → answer. Never throws.
 */
export async function answer(
  services: Services,
  implementation: Implementation,
  request: Passage["request"],
  response: ServerResponse,
  facts: RequestFacts,
): Promise<void> {
  const passage: Passage = {
    services,
    implementation,
    request,
    response,
    facts,
    notes: new AuditNotes(),
    events: new ToldEvents(implementation.endpoint),
    who: nobody,
    status: implementation.endpoint.status,
    written: false,
    browsed: isBrowsed(implementation.endpoint, request),
    startedMs: services.clock.nowMs(),
  };
  try {
    await pass(passage);
  } catch (error) {
    await recordRefusal(passage, sendError(services, passage, error));
  }
}

async function pass(passage: Passage): Promise<void> {
  const { services, implementation, request, response, facts } = passage;
  const { endpoint } = implementation;
  passage.who = await authenticate(services, endpoint.access, request, facts.ip);
  facts.caller = passage.who;
  await limitRequest(services, passage.who, response);
  authorize(passage.who, endpoint.access, { mfaGate: services.config.enable2fa });
  const body = await readJson(request, {
    limitBytes: endpoint.bodyLimitBytes,
    scrub: endpoint.from === "machine",
  });
  const input = validate(endpoint, {
    params: request.params,
    query: readQuery(facts.search, endpoint.transport === "redirect"),
    body,
  });
  const unit = new UnitOfWork(services, scopeOf(passage.who));
  boundReads(unit.scope, waitingFor(response));
  unit.afterRollback(() => passage.events.drop());
  const key = endpoint.idempotent ? readIdempotencyKey(headerOf(request, "x-idempotency-key")) : undefined;
  if (key === undefined) {
    armClosing(passage, unit);
    const call = makeCall(passage, unit, { ...input, sentBody: body });
    const result = await implementation.handler(call);
    await recordSuccess(passage, unit);
    sendResult(endpoint, passage, result, passage.status);
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
async function passIdempotent(passage: Passage, unit: UnitOfWork, { key, input, body }: Keyed): Promise<void> {
  const { services, implementation, response, facts, who } = passage;
  const { endpoint } = implementation;
  const begun = await beginIdempotent(services, {
    caller: callerKey(who, facts.ip, { inSession: responseHoldsTokens(endpoint) }),
    method: endpoint.method,
    path: canonicalPath(endpoint.path, input.params),
    key,
    body,
    secret: responseHoldsSecret(endpoint),
  });
  if (!("finish" in begun)) {
    const { handler } = implementation;
    const call = makeCall(passage, unit, input);
    await refuseWithoutAccess(unit, {
      prepare: async () => handler.prepare?.(call),
      handle: () => handler(call),
    });
    await recordReplay(passage, unit, { input, remembered: begun });
    response.setHeader("Idempotency-Replayed", "true");
    sendResult(endpoint, passage, begun.body, begun.status);
    return;
  }
  const run: IdempotentRun = begun;
  try {
    let result: unknown;
    armClosing(passage, unit, (tx) => run.finish(tx, { status: passage.status, body: result }));
    const call = makeCall(passage, unit, input);
    await implementation.handler.prepare?.(call);
    await unit.transaction(async () => {
      result = await implementation.handler(call);
    });
    sendResult(endpoint, passage, result, passage.status);
  } catch (error) {
    await run.abandon();
    throw error;
  }
}

/** The endpoint names an action, or its handler named one for what happened. */
const audited = ({ implementation, notes }: Passage) => mutates(implementation.endpoint) || notes.named;

/**
 * Entry, events and the record of the answer commit with the change itself. An endpoint without an action of its own
 * (an agent's report) still writes the entries its handler added with `audit.also`.
 */
function armClosing(passage: Passage, unit: UnitOfWork, also?: Parameters<UnitOfWork["beforeCommit"]>[0]): void {
  unit.beforeCommit(async (tx) => {
    if (audited(passage) || passage.notes.added) {
      await enqueueAudit(auditHandle(tx), entriesOf(passage, { result: "success", errorMessage: null }));
      unit.afterCommit(() => {
        passage.written = true;
        passage.services.wakeAuditWriter();
      });
    }
    const told = passage.events.take();
    if (told.length > 0) {
      await storeEvents(tx, told);
      unit.afterCommit(() => passage.services.wakeEvents());
    }
    await also?.(tx);
  });
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

/** For handlers that changed something without a transaction (none should): the entry is still written. */
async function recordSuccess(passage: Passage, unit: UnitOfWork): Promise<void> {
  if (passage.written || !(audited(passage) || passage.notes.added)) return;
  await unit.transaction(async () => undefined);
}

/**
 * Denied and failed changes are recorded in a small transaction of their own after the answer
 * (docs/audit.md, "Which requests are recorded").
 */
async function recordRefusal(passage: Passage, told: Problem): Promise<void> {
  const { services, notes } = passage;
  if (!audited(passage) || passage.written || !isRecorded(passage, told)) return;
  const { refusedKey } = told.options;
  if (refusedKey) {
    const { keyId, owner, reason, through } = refusedKey;
    notes.note({ owner, actor: { type: "api_key", id: keyId }, details: { ...through, reason } });
  }
  const denied = told.status === 401 || told.status === 403 || told.status === 428;
  const entries = entriesOf(passage, {
    result: denied ? "denied" : "failure",
    errorMessage: told.message,
    details: { errorCode: told.code, ...(isPartnerApi(passage) ? partnerCall(passage, told.status) : {}) },
  });
  if (entries.length === 0) {
    services.metrics.droppedAuditEvents.inc();
    services.log.info("audit.without_tenant", {
      requestId: passage.facts.requestId,
      action: passage.implementation.endpoint.audit,
      code: told.code,
    });
    return;
  }
  await services.refusals.record(entries.map((entry) => ({ entry, code: told.code })));
  services.wakeAuditWriter();
}

const isPartnerApi = ({ implementation }: Passage) => implementation.endpoint.access.kinds.includes("partnerKey");

/** What is wrong with the request alone, or comes too often, is no attempt at a change; of the partner API all is kept. */
const isRecorded = (passage: Passage, { status }: Problem) =>
  ![400, 413, 429].includes(status) || isPartnerApi(passage);

/** What every entry of the partner API tells (docs/credentials.md, "Partner key authentication"). */
const partnerCall = ({ implementation, services, startedMs }: Passage, httpStatus: number) => ({
  resource: implementation.endpoint.path.split("/")[2],
  recordCount: 0,
  httpStatus,
  durationMs: services.clock.nowMs() - startedMs,
});

const entriesOf = (
  { services, implementation, facts, notes, who }: Passage,
  outcome: Parameters<AuditNotes["entries"]>[2],
) =>
  notes.entries(
    implementation.endpoint,
    {
      who,
      requestId: facts.requestId,
      ip: facts.ip,
      userAgent: facts.userAgent,
      at: services.clock.now(),
      newId: () => services.random.uuid(),
    },
    outcome,
  );

interface CallInput {
  params: unknown;
  query: unknown;
  body: unknown;
  sentBody?: unknown;
}

function makeCall(passage: Passage, unit: UnitOfWork, input: CallInput): Call {
  const { services, implementation, request, response, facts, notes, who } = passage;
  let gone: AbortSignal | undefined;
  return {
    who,
    sentBody: input.body,
    ...input,
    get gone() {
      // One for the whole call: a long poll looks at it many times, and each would listen to the response.
      gone ??= goneOf(response);
      return gone;
    },
    requestId: facts.requestId,
    ip: facts.ip,
    userAgent: facts.userAgent,
    clock: services.clock,
    random: services.random,
    log: services.log,
    config: services.config,
    services,
    scope: unit.scope,
    audit: notes,
    get db() {
      return unit.reader;
    },
    transaction: (work) => unit.transaction(work),
    asSystem: (reason, work) => unit.asSystem(reason, work),
    readAsSystem: (reason, work) => unit.readAsSystem(reason, work),
    afterCommit: (step) => unit.afterCommit(step),
    foundIt() {
      passage.status = implementation.endpoint.foundStatus ?? passage.status;
    },
    emit(kind, told) {
      if (!unit.closes) throw new Error(`${kind} is told outside the transaction of its change`);
      passage.events.add(kind, eventRow(services, kind, told));
    },
    header: (name) => headerOf(request, name),
    setHeader: (name, value) => response.setHeader(name, value),
    serverUrl: services.config.publicUrl ?? facts.origin,
  };
}

/** The reads of a request wait no longer than its caller. */
function waitingFor(response: ServerResponse): ReadBounds {
  let gone: AbortSignal | undefined;
  return {
    get gone() {
      gone ??= goneOf(response);
      return gone;
    },
  };
}

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
