import { type Context, getCredential } from "../../context.ts";
import { CliError, declined, usageError } from "../../errors/cli-error.ts";
import type { ExitName } from "../../errors/exit-codes.ts";
import { placeText } from "../../generic/subject.ts";
import type { Globals } from "../../globals.ts";
import { isColoured } from "../../output/colour.ts";
import { idempotencySecret } from "../../profile/idempotency-secret.ts";
import { prompterOf } from "../../prompt.ts";
import { apply } from "../../provisioning/apply.ts";
import { idempotencyKeysOf } from "../../provisioning/idempotency-keys.ts";
import type { ItemResult } from "../../provisioning/item-result.ts";
import { conflictError, located } from "../../provisioning/load-file.ts";
import { hasChanges } from "../../provisioning/plan.ts";
import { planExtract } from "../../provisioning/plan-text.ts";
import { planView } from "../../provisioning/plan-view.ts";
import { requireUnmoved } from "../../provisioning/saved-plan.ts";
import { deliver, prepareSinks } from "../../provisioning/sinks.ts";
import type { Register } from "../../register.ts";
import { isInteractive, writeTo } from "../../shell.ts";
import { proving, takes, valued } from "../../taken-flags.ts";
import { endApply } from "./end-apply.ts";
import { addFileOptions, applyCommand, type FileOptions } from "./options.ts";
import { rules, showPlan } from "./plan.ts";
import { planRun } from "./plan-run.ts";
import type { Planned } from "./planned.ts";
import { checkResultFields, resultPrinter } from "./result-printer.ts";

/** `rmm apply FILE`: brings the server to what the file says. */
export const registerApply: Register = (command, run) => {
  takes(command, ...valued, ...proving, "org", "dry-run");
  command.description(
    "Bring organizations, sites, contacts and enrollment keys to what a provisioning file or a saved plan says",
  );
  addFileOptions(command);
  command
    .addHelpText("before", examples)
    .addHelpText("after", `${rules}${secrets}`)
    .action((file: string | undefined) =>
      run(async (shell, globals) => {
        const options = command.opts<FileOptions>();
        const answered = globals.yes || globals.dryRun || isInteractive(shell, !globals.input);
        const missing = [...(file === undefined ? ["<file>"] : []), ...(answered ? [] : ["--yes"])];
        if (missing.length > 0) throw usageError(`Missing: ${missing.join(", ")}`, firstLook(file, options, globals));
        const planned = await planRun(shell, globals, file, options, { savedToo: true });
        if (planned.saved) requireUnmoved(planned.saved, planned.plan, planned.path);
        if (!globals.dryRun) return applyRun(planned, options);
        await showPlan(planned);
        return 0;
      }),
    );
};

const NO_FILE = "tenants.yaml";

/** What a run would do: the same command, with --dry-run, which takes saved plans too. */
function firstLook(file = NO_FILE, options: FileOptions, globals: Globals): string {
  return `See first what it would do: \`${applyCommand(file, options, globals, "dry-run")}\``;
}

const examples = `Examples:
  rmm apply tenants.yaml
  rmm apply tenants.yaml --yes --json > result.json
  rmm apply tenants.yaml --yes --allow-delete --org harbor-dental
  rmm plan tenants.yaml -o plan.json && rmm apply plan.json --yes
`;

const secrets = `
The secret of a new enrollment key goes to its sink before the key counts as
done. Running the command again is always safe: a key that the caller can see is
never minted twice, and within a day a secret that did not arrive is fetched
again.
Needs organizations:write (and sites:write for sites) and a session with a
second factor.
A saved plan is refused (exit 6) where the server has changed such that
something else would be done.

Exit 9: a part of it is as the file says, and the rest is not. 1, 5, 6 or 7:
nothing went through.

With a partner key in RMM_API_KEY it works unattended: it creates organizations,
sites and enrollment keys within the key's budgets (120 writes and 10 minted
keys an hour; --pace waits for the next hour) and prints what is left to a
person. Such a key sees no enrollment keys: one whose secret is in its file
counts as made. Another is minted where this partner key made the organization
within a day, and elsewhere refused (KEY_MAY_EXIST): --no-sink-check takes it as
made, --redeliver mints it.
`;

async function applyRun(planned: Planned, options: FileOptions): Promise<number> {
  const { context, plan, file, sender, allowDelete } = planned;
  if (plan.conflicts.length > 0) throw conflictError(file, plan.conflicts);
  await checkResultFields(context, plan);
  const rmm = await context.client();
  const again = applyCommand(planned.path, options, context.globals);
  const printer = resultPrinter(context, plan);
  const end = (results: readonly ItemResult[], failed: readonly ExitName[]) =>
    endApply(planned, { printer, results, failed, again });
  if (!hasChanges(plan)) return end([], []);
  await planned.checkAccess();
  const idempotencyKey = await idempotencyKeysFor(context);
  for (const warning of await planned.warnings()) await context.notice(`Warning: ${warning}`);
  await confirm(planned, options);
  await context.notice(`→ ${context.settings.server.value}: ${planned.budgetText}`);
  await requireSinks(planned);
  const failed: ExitName[] = [];
  const results = await apply(plan, {
    rmm,
    sender,
    idempotencyKey,
    signal: context.shell.signal,
    allowDelete,
    now: context.shell.now,
    deliver: (sink, secret) => deliver(sink, secret, planned.sinks),
    report: (result, exit) => {
      if (exit !== undefined) failed.push(exit);
      return printer.item(result);
    },
    ...(planned.carryOut === undefined ? {} : { carryOut: planned.carryOut }),
  });
  return end(results, failed);
}

const idempotencyKeysFor = async (context: Context) =>
  idempotencyKeysOf(await idempotencySecret(context.shell, await getCredential(context)));

/** Shows a person the plan and asks; `--yes` has answered. */
async function confirm({ context, plan, budget, allowDelete, path }: Planned, options: FileOptions): Promise<void> {
  const { shell, globals } = context;
  if (globals.yes) return;
  const view = planView(plan, budget, allowDelete);
  const all = `\`${applyCommand(path, options, globals, "dry-run")}\` shows all of it`;
  await writeTo(shell, "stderr", planExtract(view, { coloured: isColoured(shell, "stderr"), all }));
  if (!(await prompterOf(shell).confirm(`Apply this ${placeText(context)}?`))) throw declined("Nothing was changed");
}

async function requireSinks({ plan, sinks, file }: Planned): Promise<void> {
  const occupied = await prepareSinks(plan, sinks);
  if (occupied.length === 0) return;
  throw new CliError("There is nowhere to write a secret to", {
    exit: "failure",
    code: "SINK_UNWRITABLE",
    details: located(file, occupied),
    hint: "Nothing was changed",
  });
}
