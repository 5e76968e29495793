import type { Context } from "../context.ts";
import { again } from "../errors/commands-to-type.ts";
import { checkFields, formatOf, isForPrograms, printResult } from "../output/print.ts";
import { OutputError } from "../shell.ts";
import { maskSecrets } from "./minted.ts";

/** How what became of many entries is shown. */
export interface Listing<T extends { readonly outcome: string }> {
  /** Of the JSON of one entry. */
  readonly fields: readonly string[];
  /** Of the table. */
  readonly columns: readonly string[];
  readonly keep: readonly string[];
  rowOf(one: T): Record<string, unknown>;
  secretsOf?(one: T): readonly string[];
}

/** Prints what became of many entries: with --ndjson each as soon as it is done, else all at the end. */
export interface OutcomePrinter<T> {
  /** Never fails for a pipe that was closed: that must not stop the work, and is told at the end. */
  item(one: T): Promise<void>;
  /** `goOn`: what is said of an interrupted run instead of its command line. */
  end(outcomes: readonly T[], goOn?: readonly string[]): Promise<void>;
}

/** Refuses fields that there are not, before anything is sent. */
export const checkListing = <T extends { readonly outcome: string }>(context: Context, listing: Listing<T>): void =>
  checkFields(context.globals, { fields: isForPrograms(context) ? listing.fields : listing.columns });

export function outcomePrinter<T extends { readonly outcome: string }>(
  context: Context,
  listing: Listing<T>,
): OutcomePrinter<T> {
  const streams = formatOf(context) === "ndjson";
  let closed: OutputError | undefined;
  return {
    item: async (one) => {
      await maskSecrets(context, listing.secretsOf?.(one) ?? []);
      if (!streams || closed !== undefined) return;
      await printResult(context, one, { fields: listing.fields }).catch((error: unknown) => {
        if (!(error instanceof OutputError)) throw error;
        closed = error;
      });
    },
    end: async (outcomes, goOn) => {
      if (closed !== undefined) throw closed;
      if (!streams) await printAll(context, listing, outcomes);
      await sayCounts(context, outcomes, goOn);
    },
  };
}

async function printAll<T extends { readonly outcome: string }>(
  context: Context,
  { fields, columns, keep, rowOf }: Listing<T>,
  outcomes: readonly T[],
): Promise<void> {
  if (isForPrograms(context)) return printResult(context, outcomes, { fields });
  // After Ctrl-C entries that were not tried are counted, not listed: a person looks for what failed.
  const left = context.shell.signal.aborted;
  const listed = outcomes.filter(({ outcome }) => !left || outcome !== "skipped");
  await printResult(context, listed.map(rowOf), { fields: columns, columns, keep });
}

/** What counts as gone through is said of the whole, the others where there are any. */
const words: readonly (readonly [outcome: string, word: string])[] = [
  ["queued", "queued"],
  ["planned", "would change"],
  ["unchanged", "unchanged"],
  ["exists", "there already"],
  ["open", "not over yet"],
  ["failed", "failed"],
  ["skipped", "not tried"],
];

async function sayCounts(
  context: Context,
  outcomes: readonly { readonly outcome: string }[],
  goOn?: readonly string[],
): Promise<void> {
  const count = (outcome: string) => outcomes.filter((one) => one.outcome === outcome).length;
  const parts = words.filter(([outcome]) => count(outcome) > 0).map(([outcome, word]) => `${count(outcome)} ${word}`);
  if (count("queued") + count("planned") === 0) parts.unshift(`${count("done")} of ${outcomes.length} done`);
  await context.notice(outcomes.length === 0 ? "Nothing to do" : parts.join(", "));
  for (const line of goOn ?? []) await context.notice(line);
  if (goOn === undefined && context.shell.signal.aborted && count("skipped") > 0)
    await context.notice(`Interrupted. What was done stays; go on with: ${again(context.globals.typed)}`);
}
