import { mutates } from "#contract/core/endpoint";
import { auditHandle } from "#server/audit/handle";
import { enqueueAudit } from "#server/audit/outbox";
import type { UnitOfWork } from "#server/db/unit-of-work";
import { storeEvents } from "#server/events/emit";
import type { Problem } from "#server/problem";
import type { AuditNotes } from "./audit-entry.ts";
import type { Passage } from "./passage.ts";

/** The endpoint names an action, or its handler named one for what happened. */
const audited = ({ implementation, notes }: Passage) => mutates(implementation.endpoint) || notes.named;

/**
 * Entry, events and the record of the answer commit with the change itself. An endpoint without an action of its own
 * (an agent's report) still writes the entries its handler added with `audit.also`.
 */
export function armClosing(passage: Passage, unit: UnitOfWork, also?: Parameters<UnitOfWork["beforeCommit"]>[0]): void {
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

/** For handlers that changed something without a transaction (none should): the entry is still written. */
export async function recordSuccess(passage: Passage, unit: UnitOfWork): Promise<void> {
  if (passage.written || !(audited(passage) || passage.notes.added)) return;
  await unit.transaction(async () => undefined);
}

/**
 * Denied and failed changes are recorded in a small transaction of their own after the answer
 * (docs/audit.md, "Which requests are recorded").
 */
export async function recordRefusal(passage: Passage, told: Problem): Promise<void> {
  const { services, notes } = passage;
  const { refused } = told.options;
  // Who reads with a key that was taken away is told of as well.
  if (refused?.actor.type === "api_key" && !audited(passage)) notes.note({ action: "api_key.refused" });
  if (!audited(passage) || passage.written || !isRecorded(passage, told)) return;
  if (refused) {
    const { actor, owner, reason, through, siteIds } = refused;
    notes.note({ actor, owner, details: { ...through, reason }, ...(siteIds && { siteIds }) });
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

export const isPartnerApi = ({ implementation }: Passage) =>
  implementation.endpoint.access.kinds.includes("partnerKey");

/** What is wrong with the request alone, or comes too often, is no attempt at a change; of the partner API all is kept. */
const isRecorded = (passage: Passage, told: Problem) => leavesEntry(told) || isPartnerApi(passage);

export const leavesEntry = ({ status }: Pick<Problem, "status">): boolean => ![400, 413, 429].includes(status);

/** What every entry of the partner API tells (docs/credentials.md, "Partner key authentication"). */
export const partnerCall = ({ implementation, services, startedMs }: Passage, httpStatus: number) => ({
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
