import type { Context } from "../context.ts";
import type { CommandSpec } from "../manifest.ts";
import type { Names } from "./names.ts";

/** What stands behind the command's name on the command line. */
export interface Arguments {
  readonly args: readonly (string | undefined)[];
  /** Flags of the command itself. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Exit code that an answer stands for, where not every answer is a success. */
  readonly exitOf?: (result: unknown) => number;
  /** Does something else with the answer than print it; for one call, never a list. Returns the exit code. */
  readonly finish?: (result: unknown) => Promise<number>;
}

/** One call in the making. */
export interface Draft {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** True where a body is sent even when nothing stands in it. */
  readonly hasBody: boolean;
  /** Why this entry of a list is not sent: a name in it is nobody's. */
  readonly failure?: unknown;
}

export type Part = "params" | "query" | "body";

/** A copy with one value more. */
export const withValue = (draft: Draft, part: Part, name: string, value: unknown): Draft => ({
  ...draft,
  [part]: { ...draft[part], [name]: value },
});

/** One run of the command of an endpoint: each stage takes it and returns it with more in it. */
export interface Invocation {
  readonly context: Context;
  readonly spec: CommandSpec;
  readonly given: Arguments;
  readonly drafts: readonly Draft[];
  /** True where the drafts are entries of a list: each is sent by itself, and reported. */
  readonly list: boolean;
  readonly names: Names;
}
