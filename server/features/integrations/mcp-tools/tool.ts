import type { ToolInput, ToolName } from "#contract/core/tools";
import type { Call } from "#server/http/call";

/** What a tool does on the server; what it takes and who may call it stands in the contract (`core/tools.ts`). */
export interface Tool<N extends ToolName> {
  /** Risk of a call from 0 (reads) to 4 (docs/privileged-access.md, "Risk tiers"). */
  tier(input: ToolInput<N>): number;
  /** Answers an object. Changes are made in a transaction of the call. */
  run(call: Call, input: ToolInput<N>): Promise<object>;
}

export type Tools = { readonly [N in ToolName]: Tool<N> };

/** A tool that reads. */
export const reading = <N extends ToolName>(run: Tool<N>["run"]): Tool<N> => ({ tier: () => 0, run });

/** The call that the handler of an endpoint gets, of whoever called the tool. */
export const asked = <C extends Pick<Call, "params" | "query" | "body">>(
  call: Call,
  request: Partial<Pick<C, "params" | "query" | "body">>,
): C => Object.assign(Object.create(call) as C, { params: {}, query: {}, body: undefined, ...request });
