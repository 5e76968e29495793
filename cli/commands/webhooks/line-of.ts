import type { Context } from "../../context.ts";
import { pipeCell, valueAt } from "../../output/cell.ts";
import { isForPrograms, picked } from "../../output/print.ts";

/** One row of an output without end: an object for programs, else its columns. */
export function lineOf(context: Context, row: object, columns: readonly string[]): string {
  const { globals, shell } = context;
  if (isForPrograms(context))
    return JSON.stringify(globals.jsonFields === undefined ? row : picked(row, globals.jsonFields));
  const cells = (globals.columns ?? columns).map((name) => pipeCell(valueAt(row, name)));
  return cells.join(shell.isTty.stdout ? "  " : "\t");
}
