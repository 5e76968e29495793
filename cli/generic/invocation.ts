import type { Context } from "../context.ts";
import type { CommandSpec } from "../manifest.ts";
import type { View } from "../output/print.ts";
import type { Where } from "../where/parse.ts";
import type { Names } from "./names.ts";

/** What the command line gives after the name of the command. */
export interface Arguments {
  readonly args: readonly (string | undefined)[];
  /** Flags of the command itself. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Secrets that the command has read or asked for itself, by their flags. */
  readonly secrets?: ReadonlyMap<string, string>;
  /** Arguments, and flags beside the common ones, of several requests: each is sent and reported by what it is called. */
  readonly each?: readonly {
    readonly args: readonly string[];
    readonly called: string;
    readonly options?: Readonly<Record<string, unknown>>;
  }[];
  /** Each of several requests rests on those before it: after one that fails the others are skipped. */
  readonly inOrder?: boolean;
  /** It changes nothing, although it is no GET: no target is told before it. */
  readonly reads?: boolean;
  /** Exit code that an answer stands for, where not every answer is a success. */
  readonly exitOf?: (result: unknown) => number;
  /** Said on stderr before the question whether to go on; for one call, never a list. */
  readonly warnings?: (invocation: Invocation) => Promise<readonly string[]>;
  /** Said on stderr after the answer to one call was printed. */
  readonly noteOn?: (result: unknown) => readonly string[];
  /** Takes the answer as it comes, however long it is; for one call, never a list. Returns the exit code. */
  readonly stream?: (body: ReadableStream<Uint8Array>) => Promise<number>;
  /** Replaces names that the fields of a body hold, and which no flag takes, by ids. */
  readonly completed?: (draft: Draft) => Promise<Draft>;
  /** How a terminal shows a list. */
  readonly view?: View;
  /** Prints the answer to one call in another way. */
  readonly print?: (result: unknown) => Promise<void>;
  /** Does something else with the answer than print it; for one call, never a list. Returns the exit code. */
  readonly finish?: (result: unknown) => Promise<number>;
}

/** A request that is being put together. */
export interface Draft {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** A body is sent even if it is empty. */
  readonly hasBody: boolean;
  /** Why this entry of a list cannot be sent: a name in it is unknown. */
  readonly failure?: unknown;
  /** The expression that an entry of a file has in the place of conditions. */
  readonly where?: Where | undefined;
  /** What an entry that cannot be sent is called in its file. */
  readonly called?: string | undefined;
  /** Where an entry of a list stands in its file; null where the file does not tell. */
  readonly line?: number | null;
}

export type Part = "params" | "query" | "body";

/** A copy of the draft with one more value. */
export const withValue = (draft: Draft, part: Part, name: string, value: unknown): Draft => ({
  ...draft,
  [part]: { ...draft[part], [name]: value },
});

/** One run of an endpoint's command. Each stage takes it and returns a copy with its own result added. */
export interface Invocation {
  readonly context: Context;
  readonly spec: CommandSpec;
  readonly given: Arguments;
  readonly drafts: readonly Draft[];
  /** The drafts are entries of a list: each is sent and reported separately. */
  readonly list: boolean;
  readonly names: Names;
}
