import { type Principal, scopeOf } from "#server/access/principal";
import { boundReads } from "#server/db/read-bounds";
import { UnitOfWork } from "#server/db/unit-of-work";
import type { Services } from "#server/services";
import { armClosing, leavesEntry, recordRefusal, recordSuccess } from "./closing.ts";
import type { Implementation } from "./implement.ts";
import { begun, makeCall, type Passage } from "./passage.ts";
import { parseJson } from "./request-body.ts";
import type { RequestFacts } from "./request-facts.ts";
import { toldProblem } from "./respond.ts";
import { validate } from "./validate.ts";

export { leavesEntry, toldProblem };

/** What came in over a connection that was authorized before. */
export interface Frame {
  readonly who: Principal;
  /** Of the request that opened the connection. */
  readonly facts: RequestFacts;
  /** Aborts with the connection. */
  readonly gone: AbortSignal;
  readonly params: Record<string, string>;
  readonly body: unknown;
}

/** The JSON of a machine's frame. */
export const readFrame = (bytes: Buffer): unknown => parseJson(bytes, true);

/**
 * Runs the handler of an endpoint for a frame: validation, change, audit entry and events are those of a request.
 * Rejects with what the caller is told.
 */
export async function runFrame<R>(services: Services, implementation: Implementation, frame: Frame): Promise<R> {
  const facts = { ...frame.facts, requestId: services.random.uuid(), caller: frame.who };
  const passage: Passage = {
    ...begun(services, implementation, facts, frame.who),
    gone: frame.gone,
    header: () => undefined,
    setHeader: () => undefined,
  };
  try {
    const input = validate(implementation.endpoint, { params: frame.params, query: {}, body: frame.body });
    const unit = new UnitOfWork(services, scopeOf(frame.who));
    boundReads(unit.scope, frame);
    unit.afterRollback(() => passage.events.drop());
    armClosing(passage, unit);
    const result = await implementation.handler(makeCall(passage, unit, { ...input, sentBody: frame.body }));
    await recordSuccess(passage, unit);
    return result;
  } catch (error) {
    const told = toldProblem(services, facts, error);
    await recordRefusal(passage, told);
    throw told;
  }
}
