import type { Context } from "../../context.ts";
import type { CommandSpec } from "../../manifest.ts";
import { cellText, pipeCell, valueAt } from "../../output/cell.ts";
import { escapeControls } from "../../output/escape.ts";
import { isForPrograms, picked } from "../../output/print.ts";
import { wrapWords } from "../../output/wrap.ts";

const INDENT = 4;

export interface LineColumn {
  readonly name: string;
  /** Ids are left out of a terminal, but with `--wide`. */
  readonly isId?: boolean;
  /** There is no heading above an output without end, so that a bare number would say nothing. */
  readonly say?: ((value: string) => string) | undefined;
}

/** One row of an output without end: an object for programs, tabs for a pipe, for a terminal what there is to say. */
export function lineOf(context: Context, row: object, columns: readonly LineColumn[]): string {
  const { globals, shell } = context;
  if (isForPrograms(context))
    return JSON.stringify(globals.jsonFields === undefined ? row : picked(row, globals.jsonFields));
  const known = new Map(columns.map((one) => [one.name, one]));
  const named = globals.columns?.map((name): LineColumn => known.get(name) ?? { name });
  if (!shell.isTty.stdout) return (named ?? columns).map(({ name }) => pipeCell(valueAt(row, name))).join("\t");
  const shown = named ?? columns.filter(({ isId }) => globals.wide || !isId);
  const cells = shown.flatMap(({ name, say = (value) => value }) => {
    const text = cellText(valueAt(row, name));
    return text === "" ? [] : [say(escapeControls(text))];
  });
  return wrapWords(cells.join("  "), shell.columns, INDENT);
}

/** The columns of a list; `says` has words for those whose value alone says nothing. */
export const lineColumnsOf = (
  { columns, ids, times }: CommandSpec,
  says: Readonly<Record<string, LineColumn["say"]>>,
): LineColumn[] =>
  columns.map((name) => ({
    name,
    isId: ids.includes(name),
    say: says[name] ?? (times.includes(name) ? inSeconds : undefined),
  }));

/** A time without its milliseconds. */
export const inSeconds = (time: string): string => time.replace(/\.\d+Z$/, "Z");
export const attempt = (value: string): string => `attempt ${value}`;
export const milliseconds = (value: string): string => `${value} ms`;
