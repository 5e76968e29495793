import { exitCode } from "../../errors/exit-codes.ts";
import { isColoured } from "../../output/colour.ts";
import { formatOf, printResult } from "../../output/print.ts";
import { conflictError } from "../../provisioning/load-file.ts";
import { hasChanges } from "../../provisioning/plan.ts";
import { planText, planView } from "../../provisioning/plan-view.ts";
import type { Register } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { addFileOptions, type FileOptions, planRun } from "./options.ts";
import type { Planned } from "./planned.ts";

/** `rmm plan FILE`: what `rmm apply FILE` would do. */
export const registerPlan: Register = (command, run) => {
  command.description("Show what applying a provisioning file would change, deletes first. Changes nothing");
  addFileOptions(command);
  command
    .option("--detailed-exitcode", "exit 10 when there are changes")
    .addHelpText("before", examples)
    .addHelpText("after", rules)
    .action((file: string | undefined) =>
      run(async (shell, globals) => {
        const options = command.opts<FileOptions & { detailedExitcode?: boolean }>();
        const planned = await planRun(shell, globals, file, options);
        await showPlan(planned, options.allowDelete === true);
        return options.detailedExitcode && hasChanges(planned.plan) ? exitCode("changes") : 0;
      }),
    );
};

const examples = `Examples:
  rmm plan tenants.yaml
  rmm plan tenants.yaml --org harbor-dental
  rmm plan tenants.yaml --json --detailed-exitcode > plan.json
`;

export const rules = `
A file lists organizations by slug; those it does not name are left alone. Inside an organization a key that is
absent keeps what is there, null or an empty value clears it, and a list of sites, contacts or enrollment keys
is complete: what it does not list is deleted, with --allow-delete only.
`;

/** Prints the plan on stdout and its cost on stderr. Throws when it cannot be carried out. */
export async function showPlan(planned: Planned, allowDelete: boolean): Promise<void> {
  const { context, plan, file } = planned;
  if (plan.conflicts.length > 0) throw conflictError(file, plan.conflicts);
  const { shell } = context;
  const view = planView(plan, planned.budget(allowDelete));
  const format = formatOf(context);
  if (format === "table" || format === "tsv") {
    await writeTo(shell, "stdout", planText(view, { coloured: isColoured(shell, "stdout") }));
  } else {
    await printResult(context, format === "ndjson" ? view.items : view, { fields: [] });
  }
  const warning = await planned.warning();
  if (warning !== undefined) await context.notice(`Warning: ${warning}`);
  if (hasChanges(plan)) await context.notice(`Applying it sends ${planned.budgetText(allowDelete)}`);
}
