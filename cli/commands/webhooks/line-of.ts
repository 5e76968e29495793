import type { Context } from "../../context.ts";
import { cellText, pipeCell, valueAt } from "../../output/cell.ts";
import { escapeControls } from "../../output/escape.ts";
import { isForPrograms, picked } from "../../output/print.ts";
import { wrapWords } from "../../output/wrap.ts";

const INDENT = 4;

/** One row of an output without end: an object for programs, tabs for a pipe, for a terminal what there is to say. */
export function lineOf(context: Context, row: object, columns: readonly string[]): string {
  const { globals, shell } = context;
  if (isForPrograms(context))
    return JSON.stringify(globals.jsonFields === undefined ? row : picked(row, globals.jsonFields));
  const named = globals.columns;
  if (!shell.isTty.stdout) return (named ?? columns).map((name) => pipeCell(valueAt(row, name))).join("\t");
  const shown = named ?? columns.filter((name) => globals.wide || !/^id$|Id$/.test(name));
  const cells = shown.map((name) => labelled(name, cellText(valueAt(row, name)))).filter((cell) => cell !== "");
  return wrapWords(cells.join("  "), shell.columns, INDENT);
}

/** There is no heading above an output without end, so that a bare number would say nothing. */
function labelled(name: string, text: string): string {
  if (text === "") return "";
  const value = escapeControls(text);
  if (/^attempts?$/.test(name)) return `attempt ${value}`;
  if (name.endsWith("TimeMs")) return `${value} ms`;
  if (name === "nextAttemptAt") return `again at ${inSeconds(value)}`;
  return /At$|^at$/.test(name) ? inSeconds(value) : value;
}

const inSeconds = (time: string): string => time.replace(/\.\d+Z$/, "Z");
