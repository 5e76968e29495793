import type { Context } from "../../context.ts";
import { CliError, declined, usageError } from "../../errors/cli-error.ts";
import { type ExitName, exitCode } from "../../errors/exit-codes.ts";
import { isColoured } from "../../output/colour.ts";
import { formatOf } from "../../output/print.ts";
import { prompterOf } from "../../prompt.ts";
import { apply } from "../../provisioning/apply.ts";
import { endText, summaryOf } from "../../provisioning/apply-view.ts";
import type { ItemResult } from "../../provisioning/item-result.ts";
import { conflictError, located } from "../../provisioning/load-file.ts";
import { hasChanges, type Note } from "../../provisioning/plan.ts";
import { planText, planView } from "../../provisioning/plan-view.ts";
import { deliver, prepareSinks } from "../../provisioning/sinks.ts";
import type { Register } from "../../register.ts";
import { isInteractive, writeTo } from "../../shell.ts";
import { addFileOptions, applyCommand, type FileOptions, planRun } from "./options.ts";
import { rules, showPlan } from "./plan.ts";
import type { Planned } from "./planned.ts";
import { checkResultFields, resultPrinter } from "./result-printer.ts";

/** `rmm apply FILE`: brings the server to what the file says. */
export const registerApply: Register = (command, run) => {
  command.description("Bring organizations, sites, contacts and enrollment keys to what a provisioning file says");
  addFileOptions(command);
  command
    .addHelpText("before", examples)
    .addHelpText("after", `${rules}${secrets}`)
    .action((file: string | undefined) =>
      run(async (shell, globals) => {
        const options = command.opts<FileOptions>();
        const answered = globals.yes || globals.dryRun || isInteractive(shell, !globals.input);
        const missing = [...(file === undefined ? ["<file>"] : []), ...(answered ? [] : ["--yes"])];
        if (missing.length > 0)
          throw usageError(`Missing: ${missing.join(", ")}`, "See first what it would do: rmm plan FILE");
        const planned = await planRun(shell, globals, file, options);
        if (!globals.dryRun) return applyRun(planned, options);
        await showPlan(planned, options.allowDelete === true);
        return 0;
      }),
    );
};

const examples = `Examples:
  rmm apply tenants.yaml
  rmm apply tenants.yaml --yes --json > result.json
  rmm apply tenants.yaml --yes --allow-delete --org harbor-dental
`;

const secrets = `
The secret of a new enrollment key goes to its sink before the key counts as done. Running the command again is
always safe: a key is never minted twice, and within a day a secret that did not arrive is fetched again.
Needs organizations:write (and sites:write for sites) and a session with a second factor.

With a partner key in RMM_API_KEY it works unattended: it creates organizations, sites and enrollment keys within the
key's budgets (120 writes and 10 minted keys an hour; --pace waits for the next hour) and prints what is left to a
person. Such a key sees no enrollment keys: one whose secret is in its file counts as made.
`;

async function applyRun(planned: Planned, options: FileOptions): Promise<number> {
  const { context, plan, file, sender } = planned;
  const allowDelete = options.allowDelete === true;
  if (plan.conflicts.length > 0) throw conflictError(file, plan.conflicts);
  checkResultFields(context, plan);
  const rmm = await context.client();
  if (hasChanges(plan)) await planned.checkAccess();
  const budget = planned.budget(allowDelete);
  const printer = resultPrinter(context, plan);
  const notes = plan.organizations.flatMap((one) => one.notes);
  if (!hasChanges(plan)) {
    await tellNotes(context, notes);
    await tellRest(planned, notes);
    await printer.end([], { budget, notes, none: true });
    return exitCode(notes.some(({ unresolved }) => unresolved) ? "partial" : "ok");
  }
  const warning = await planned.warning();
  if (warning !== undefined) await context.notice(`Warning: ${warning}`);
  await confirm(planned, allowDelete);
  await context.notice(`→ ${context.settings.server.value}: ${planned.budgetText(allowDelete)}`);
  const occupied = await prepareSinks(plan, planned.sinks);
  if (occupied.length > 0) {
    throw new CliError("A secret would have nowhere to go", {
      exit: "failure",
      code: "SINK_UNWRITABLE",
      details: located(file, occupied),
      hint: "Nothing was changed",
    });
  }
  const results = await apply(plan, {
    rmm,
    sender,
    signal: context.shell.signal,
    allowDelete,
    now: context.shell.now,
    deliver: (sink, secret) => deliver(sink, secret, planned.sinks),
    report: printer.item,
    ...(planned.carryOut === undefined ? {} : { carryOut: planned.carryOut }),
  });
  await printer.end(results, { budget, notes, none: false });
  await tellNotes(context, notes);
  await tellRest(planned, notes);
  if (planned.carryOut && results.some(({ error }) => error?.code === "RATE_LIMITED")) {
    await context.notice("This hour's budget is used up: --pace waits for the next one");
  }
  return finish(context, applyCommand(file, options), results, notes);
}

/** Shows a person the plan and asks; `--yes` has answered. */
async function confirm({ context, plan, budget }: Planned, allowDelete: boolean): Promise<void> {
  const { shell, globals } = context;
  if (globals.yes) return;
  const view = planView(plan, budget(allowDelete));
  await writeTo(shell, "stderr", planText(view, { coloured: isColoured(shell, "stderr") }));
  if (!(await prompterOf(shell).confirm("Apply this?"))) throw declined("Nothing was changed");
}

async function tellNotes(context: Context, notes: readonly Note[]): Promise<void> {
  for (const { organization, name, message, command } of notes) {
    await context.notice(`! ${organization} / ${name}: ${message}`);
    if (command !== undefined) await context.notice(`    ${command}`);
  }
}

async function tellRest({ context, carryOut, file }: Planned, notes: readonly Note[]): Promise<void> {
  if (carryOut === undefined || notes.length === 0) return;
  await context.notice(`What is marked ! is left to a person; a signed-in user does it with: rmm apply ${file}`);
}

async function finish(
  context: Context,
  again: string,
  results: readonly ItemResult[],
  notes: readonly Note[],
): Promise<number> {
  const { shell } = context;
  const summary = summaryOf(results);
  await context.notice(endText(summary));
  let exit: ExitName = "ok";
  if (summary.failed > 0 || summary.skipped > 0 || notes.some(({ unresolved }) => unresolved)) exit = "partial";
  if (shell.signal.aborted && summary.skipped > 0) exit = "interrupted";
  if (exit === "interrupted") await context.notice(`Interrupted. What was done stays; go on with: ${again}`);
  else if (summary.failed > 0) await context.notice(`Running it again tries what failed and repeats nothing: ${again}`);
  if (formatOf(context) === "json" && exit !== "ok") await context.notice("The items are on stdout");
  return exitCode(exit);
}
