import { resolve } from "node:path";
import { commandToType } from "../../errors/commands-to-type.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { isColoured } from "../../output/colour.ts";
import { formatOf, printResult } from "../../output/print.ts";
import { conflictError } from "../../provisioning/load-file.ts";
import { hasChanges, hasDifferences } from "../../provisioning/plan.ts";
import { planText } from "../../provisioning/plan-text.ts";
import { planView } from "../../provisioning/plan-view.ts";
import { requireFree, savePlan } from "../../provisioning/saved-plan.ts";
import type { Register } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { proving, takes, valued } from "../../taken-flags.ts";
import { addFileOptions, type FileOptions } from "./options.ts";
import { planRun } from "./plan-run.ts";
import type { Planned } from "./planned.ts";

/** `rmm plan FILE`: what `rmm apply FILE` would do. */
export const registerPlan: Register = (command, run) => {
  takes(command, ...valued, ...proving, "org");
  command.description("Show what applying a provisioning file would change, deletes first. Changes nothing");
  addFileOptions(command);
  command
    .option("--detailed-exitcode", "exit 10 when the server differs: changes, held deletes, what is left to a person")
    .option("-o, --output <path>", "save the plan as well, for `rmm apply <path>`; --yes replaces one that exists")
    .addHelpText("before", examples)
    .addHelpText("after", rules)
    .action((file: string | undefined) =>
      run(async (shell, globals) => {
        const options = command.opts<FileOptions & { detailedExitcode?: boolean; output?: string }>();
        if (options.output !== undefined) await requireFree(options.output, { replace: globals.yes });
        const planned = await planRun(shell, globals, file, options);
        await showPlan(planned);
        if (options.output !== undefined) await save(planned, options.output);
        return options.detailedExitcode && hasDifferences(planned.plan) ? exitCode("changes") : 0;
      }),
    );
};

const examples = `Examples:
  rmm plan tenants.yaml
  rmm plan tenants.yaml --org harbor-dental
  rmm plan tenants.yaml --json --detailed-exitcode > changes.json
  rmm plan tenants.yaml -o plan.json && rmm apply plan.json --yes
`;

export const rules = `
A file lists organizations by slug; those it does not name are left alone.
Inside an organization a key that is absent keeps what is there, null or an
empty value clears it, and a list of sites, contacts or enrollment keys is
complete: what it does not list is deleted, with --allow-delete only.
`;

/** Prints the plan on stdout and its cost on stderr. Throws when it cannot be carried out. */
export async function showPlan(planned: Planned): Promise<void> {
  const { context, plan, file, allowDelete } = planned;
  if (plan.conflicts.length > 0) throw conflictError(file, plan.conflicts);
  const { shell } = context;
  const view = planView(plan, planned.budget, allowDelete);
  const format = formatOf(context);
  if (format === "table" || format === "tsv") {
    await writeTo(shell, "stdout", planText(view, { coloured: isColoured(shell, "stdout") }));
  } else {
    await printResult(context, format === "ndjson" ? view.items : view, { fields: [] });
  }
  for (const warning of await planned.warnings()) await context.notice(`Warning: ${warning}`);
  if (hasChanges(plan)) await context.notice(`Applying it sends ${planned.budgetText}`);
}

async function save({ context, plan, file, source, by }: Planned, path: string): Promise<void> {
  const { shell, settings, globals } = context;
  const facts = { nowMs: shell.now(), server: settings.server.value, by, name: file, ...source };
  await savePlan(path, plan, facts, { replace: globals.yes });
  await context.notice(`Saved in ${resolve(path)}`);
  if (hasChanges(plan))
    await context.notice(`Carry out exactly this with: \`${commandToType(["apply", path], {}, globals.given)}\``);
}
