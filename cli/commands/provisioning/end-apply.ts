import type { Context } from "../../context.ts";
import { commandToType } from "../../errors/commands-to-type.ts";
import { type ExitName, exitCode } from "../../errors/exit-codes.ts";
import { exitOfItems } from "../../errors/exit-of-items.ts";
import { formatOf } from "../../output/print.ts";
import { endText, summaryOf } from "../../provisioning/apply-view.ts";
import type { ItemResult } from "../../provisioning/item-result.ts";
import { isForPerson, type Note } from "../../provisioning/note.ts";
import { hasChanges, notesOf } from "../../provisioning/plan.ts";
import type { Planned } from "./planned.ts";
import type { ResultPrinter } from "./result-printer.ts";
import { tellNotes } from "./tell-notes.ts";

export interface Applied {
  readonly printer: ResultPrinter;
  readonly results: readonly ItemResult[];
  /** Exit codes of what failed. */
  readonly failed: readonly ExitName[];
  /** The command that goes on. */
  readonly again: string;
}

/** Prints what is left, and tells how the run went. Returns its exit code. */
export async function endApply(planned: Planned, { printer, results, failed, again }: Applied): Promise<number> {
  const { context, plan, budget } = planned;
  const notes = notesOf(plan);
  await printer.end(results, { budget, notes, none: !hasChanges(plan) });
  await tellNotes(context, notes);
  await tellRest(planned, notes);
  if (planned.carryOut && results.some(({ error }) => error?.code === "RATE_LIMITED")) {
    await context.notice("This hour's budget is used up: --pace waits for the next one");
  }
  const summary = summaryOf(results, notes);
  if (hasChanges(plan)) await context.notice(endText(summary));
  const exit = exitOf(context, results, failed, notes);
  if (exit === "interrupted") await context.notice(`Interrupted. What was done stays; go on with: \`${again}\``);
  else if (summary.failed > 0)
    await context.notice(`Running it again tries what failed and repeats nothing: \`${again}\``);
  if (formatOf(context) === "json" && exit !== "ok" && hasChanges(plan))
    await context.notice("The items are on stdout");
  return exitCode(exit);
}

/** What only a person can change leaves the server other than the file says, also where nothing failed. */
function exitOf(
  { shell }: Context,
  results: readonly ItemResult[],
  failed: readonly ExitName[],
  notes: readonly Note[],
): ExitName {
  const { done, skipped } = summaryOf(results, notes);
  const exit = exitOfItems({ done, failed, skipped, interrupted: shell.signal.aborted });
  return exit === "ok" && notes.some(isForPerson) ? "partial" : exit;
}

async function tellRest({ context, carryOut, path }: Planned, notes: readonly Note[]): Promise<void> {
  if (carryOut === undefined || notes.length === 0) return;
  const { "token-file": _key, ...given } = context.globals.given;
  const command = commandToType(["apply", path], {}, given);
  await context.notice(`What is marked ! is left to a person; a signed-in user does it with: \`${command}\``);
}
