import { exitCode } from "../../errors/exit-codes.ts";
import { isColoured } from "../../output/colour.ts";
import { formatOf, printResult } from "../../output/print.ts";
import { differenceText } from "../../provisioning/difference-text.ts";
import { conflictError } from "../../provisioning/load-file.ts";
import { notComparedText } from "../../provisioning/not-compared.ts";
import { isDifference } from "../../provisioning/note.ts";
import { hasDifferences, notesOf } from "../../provisioning/plan.ts";
import { noteView, planItems } from "../../provisioning/plan-view.ts";
import type { Register } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { proving, takes, valued } from "../../taken-flags.ts";
import { addReadOptions, type FileOptions } from "./options.ts";
import { planRun } from "./plan-run.ts";
import { tellNotes } from "./tell-notes.ts";

/** `rmm diff FILE`: where the server is not as the file says, value by value. */
export const registerDiff: Register = (command, run) => {
  takes(command, ...valued, ...proving, "org");
  command.description(
    "Show where the server differs from a provisioning file, in the form of diff -u. Changes nothing; exit 10 where it does",
  );
  addReadOptions(command);
  command.addHelpText("before", examples).action((file: string | undefined) =>
    run(async (shell, globals) => {
      const planned = await planRun(shell, globals, file, command.opts<FileOptions>());
      const { context, plan } = planned;
      if (plan.conflicts.length > 0) throw conflictError(planned.file, plan.conflicts);
      const items = planItems(plan);
      const left = notesOf(plan);
      const notes = left.map(noteView);
      const format = formatOf(context);
      if (format === "table" || format === "tsv") {
        const sides = { server: context.settings.server.value, file: planned.file };
        const coloured = isColoured(shell, "stdout");
        await writeTo(
          shell,
          "stdout",
          differenceText({ ...sides, items, notes: left.filter(isDifference).map(noteView) }, { coloured }),
        );
      } else {
        await printResult(context, format === "ndjson" ? [...items, ...notes] : { items, notes }, { fields: [] });
      }
      await tellNotes(
        context,
        left.filter((note) => !isDifference(note)),
      );
      const end = endText(hasDifferences(plan), notComparedText(left));
      if (end !== undefined) await context.notice(end);
      return exitCode(hasDifferences(plan) ? "changes" : "ok");
    }),
  );
};

function endText(differs: boolean, unseen: string): string | undefined {
  if (unseen === "") return differs ? undefined : "Nothing differs";
  return differs ? `Not compared: ${unseen}` : `Nothing differs in what this key sees; not compared: ${unseen}`;
}

const examples = `Examples:
  rmm diff tenants.yaml
  rmm diff tenants.yaml --org harbor-dental
  rmm export | rmm diff - --server https://other.example
`;
