import { type ToolInput, type ToolName, tools } from "#contract/core/tools";
import { attempt } from "#server/db/attempt";
import type { Call } from "#server/http/call";
import { Problem } from "#server/problem";
import { runs } from "./tools.ts";

/** A tool with what it is called with. */
export type ToolCall = { [N in ToolName]: { readonly name: N; readonly input: ToolInput<N> } }[ToolName];

export interface Failed {
  readonly failed: { readonly error: string; readonly code: string; readonly details?: unknown };
}

/** What a tool answered, or why it could not do it: that is an answer too. */
export type Ran = { readonly done: object } | Failed;

export const tierOf = ({ name, input }: ToolCall): number => (runs[name].tier as (input: unknown) => number)(input);

/**
 * Runs a tool. Of one that fails nothing is left, and its entry and the answer that an idempotency key remembers commit all
 * the same. What is wrong with the server, the key or how often it calls, fails the whole call.
 */
export async function runTool(call: Call, { name, input }: ToolCall): Promise<Ran> {
  const run = runs[name].run as (call: Call, input: unknown) => Promise<object>;
  if (!tools[name].reads) return undoable(call, (own) => run(silent(own), input));
  try {
    return { done: await run(silent(call), input) };
  } catch (error) {
    return { failed: failureOf(error) };
  }
}

/** Work of which neither rows nor events are left where it fails, although the transaction goes on. */
export const undoable = <R>(call: Call, work: (call: Call) => Promise<R>): Promise<{ done: R } | Failed> =>
  call.transaction(async (tx) => {
    const later: (() => void)[] = [];
    const own: Partial<Call> = {
      emit: (kind, told) => void later.push(() => call.emit(kind, told)),
      afterCommit: (step) => void later.push(() => call.afterCommit(step)),
    };
    const tried = await attempt(tx, () => work(Object.assign(Object.create(call) as Call, own)));
    if ("error" in tried) return { failed: failureOf(tried.error) };
    for (const step of later) step();
    return tried;
  });

/** What a tool says of a refusal; anything else goes on. */
function failureOf(error: unknown): Failed["failed"] {
  if (!(error instanceof Problem) || !isOfTool(error)) throw error;
  const { message, code, options } = error;
  return { error: message, code, ...(options.details !== undefined && { details: options.details }) };
}

const isOfTool = ({ status, code }: Problem): boolean =>
  ![401, 429].includes(status) && code !== "SERVICE_UNAVAILABLE" && code !== "INTERNAL_ERROR";

/** The entry of a call is that of its tool, which says nothing of values; the answer is that of the message. */
const silent = (call: Call): Call => {
  const nothing = () => undefined;
  const own: Partial<Call> = {
    audit: { note: nothing, also: nothing, skip: nothing },
    foundIt: nothing,
    answerWith: nothing,
    setHeader: nothing,
  };
  return Object.assign(Object.create(call) as Call, own);
};
