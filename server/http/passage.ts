import type { Principal } from "#server/access/principal";
import type { UnitOfWork } from "#server/db/unit-of-work";
import { eventRow } from "#server/events/emit";
import type { Services } from "#server/services";
import { AuditNotes } from "./audit-entry.ts";
import type { Call } from "./call.ts";
import type { Implementation } from "./implement.ts";
import type { RequestFacts } from "./request-facts.ts";
import { ToldEvents } from "./told-events.ts";

/** Everything that a request, or a frame of an open connection, carries until it is answered. */
export interface Passage {
  readonly services: Services;
  readonly implementation: Implementation;
  readonly facts: RequestFacts;
  notes: AuditNotes;
  readonly events: ToldEvents;
  who: Principal;
  status: number;
  written: boolean;
  readonly startedMs: number;
  /** Aborts when the caller goes away before the answer. */
  readonly gone: AbortSignal;
  header(name: string): string | undefined;
  setHeader(name: string, value: string): void;
}

/** What every passage begins with. */
export const begun = (services: Services, implementation: Implementation, facts: RequestFacts, who: Principal) => ({
  services,
  implementation,
  facts,
  notes: new AuditNotes(),
  events: new ToldEvents(implementation.endpoint),
  who,
  status: implementation.endpoint.status,
  written: false,
  startedMs: services.clock.nowMs(),
});

export interface CallInput {
  params: unknown;
  query: unknown;
  body: unknown;
  sentBody?: unknown;
}

export function makeCall(passage: Passage, unit: UnitOfWork, input: CallInput): Call {
  const { services, implementation, facts, notes, who } = passage;
  return {
    who,
    sentBody: input.body,
    ...input,
    get gone() {
      return passage.gone;
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
    answerWith(status) {
      if (!implementation.endpoint.otherStatuses.includes(status)) throw new Error(`${status} is not declared`);
      passage.status = status;
    },
    emit(kind, told) {
      if (!unit.closes) throw new Error(`${kind} is told outside the transaction of its change`);
      passage.events.add(kind, eventRow(services, kind, told));
    },
    header: (name) => passage.header(name),
    setHeader: (name, value) => passage.setHeader(name, value),
    serverUrl: services.config.publicUrl ?? facts.origin,
  };
}
