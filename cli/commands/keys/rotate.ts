import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { type Context, openContext } from "../../context.ts";
import { CliError, declined, missingInput } from "../../errors/cli-error.ts";
import { type ExitName, exitCode } from "../../errors/exit-codes.ts";
import { exitOfItems } from "../../errors/exit-of-items.ts";
import { warnOfGit } from "../../generic/git-warning.ts";
import { requireShown, SECRET } from "../../generic/secret-shown.ts";
import { placeText } from "../../generic/subject.ts";
import { type Journal, openJournal, prepareFolder } from "../../keys/journal.ts";
import { type RotationItem, type RotationRun, rotateKeys, rotationResultFields } from "../../keys/rotate-keys.ts";
import { deliverTo, rotationSinkText } from "../../keys/secret-sink.ts";
import { checkFields, isForPrograms, printAndTell, printResult, type Shape } from "../../output/print.ts";
import { withSpinner } from "../../output/spinner.ts";
import { configDirOf } from "../../profile/config-dir.ts";
import { withFileLock } from "../../profile/private-files.ts";
import { prompterOf } from "../../prompt.ts";
import { counted, PER_MINUTE } from "../../provisioning/budget.ts";
import { paced } from "../../provisioning/sender.ts";
import type { SinkContext } from "../../provisioning/sinks.ts";
import type { Register } from "../../register.ts";
import { proving, tabular, takes } from "../../taken-flags.ts";
import { sinkContext } from "../provisioning/options.ts";
import { keysIn, scopeOf } from "./filters.ts";
import {
  addRotateOptions,
  checkRotateOptions,
  planRotation,
  prepareFiles,
  type RotateOptions,
  type RotationPlan,
} from "./rotate-plan.ts";
import { planColumns, planRows, resultColumns, resultRow, resumeCommand } from "./rotate-view.ts";
import { type StreamPrinter, streamPrinter } from "./stream-printer.ts";

/** `rmm keys rotate`: new material for many keys, one after the other, and no secret lost on the way. */
export const registerKeysRotate: Register = (command, run) => {
  takes(command, ...tabular, ...proving, "org", "limit", "all", "confirm", "dry-run");
  command.description(
    "Replace the material of API keys, service principals' keys, partner keys and enrollment keys. The old material " +
      "stops at once; the next key is begun when the secret of the one before is where it belongs",
  );
  addRotateOptions(command);
  command
    .argument("[id...]", "keys by id or name, of any kind; of a service principal also its own id")
    .usage("[<id>...] [flags]")
    .addHelpText("before", examples)
    .addHelpText("after", rules)
    .action((ids: string[]) =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals);
        const options = command.opts<RotateOptions>();
        checkRotateOptions(context, ids, options);
        checkFields(globals, shapeOf(context));
        const { path, lock } = await placesOf(context, options.journal);
        return withFileLock(lock, async () => rotate(context, ids, options, path));
      }),
    );
};

const examples = `Examples:
  rmm keys rotate --older-than 90d --dry-run
  rmm keys rotate --older-than 90d --kind api-key --secret-dir rotated/ --yes
  rmm keys rotate --expiring 14d --org contoso-dental --secret-command 'vault kv put kv/$RMM_KEY_NAME key=-' --yes
  NEW=$(rmm keys rotate 7f1c9d7e-3f1b-4c0a-9a53-0f4f1f1a2b3c --yes)
`;

const rules = `
Filters add up, and choose only keys that work now. --all chooses all of them,
with --confirm=<number of keys>.
What was begun stands in a journal, without the secret: a run that was killed is
finished by the next one, within a day with the very secret that was made. Exit
9: some keys failed, or a secret is still to be fetched with --resume.
Needs organizations:write and a session with a second factor; partner keys need
access to the whole partner.
`;

/** A journal for each server and profile; two runs take turns at it. */
async function placesOf(context: Context, given: string | undefined): Promise<{ path: string; lock: string }> {
  const { server, profile } = context.settings;
  const folder = configDirOf(context.shell).path;
  const mark = createHash("sha256")
    .update(given === undefined ? `${server.value}|${profile.value}` : resolve(given))
    .digest("hex")
    .slice(0, 16);
  const path = given ?? join(folder, "rotations", `${mark}.ndjson`);
  if (given === undefined && !context.globals.dryRun) await prepareFolder(path);
  return { path, lock: join(folder, "locks", `rotation-${mark}.lock`) };
}

async function rotate(context: Context, ids: readonly string[], options: RotateOptions, path: string): Promise<number> {
  const { shell, globals, settings } = context;
  const journal = await openJournal(path, settings.server.value);
  const rmm = await context.client();
  const onWait = (ms: number, why: string) => void context.notice(`Waiting ${Math.ceil(ms / 1000)} s: ${why}`);
  const sender = paced({ perMinute: PER_MINUTE, signal: shell.signal, sleep: shell.sleep, onWait });
  const plan = await withSpinner(context, "Loading", async () => {
    const scope = await scopeOf(context, rmm, options, sender.send);
    const keys = await keysIn(context, rmm, scope, sender.send);
    return planRotation(context, keys, ids, options, { journal, scope });
  });
  if (plan.passedOver > 0) await context.notice(`${counted(plan.passedOver, "key")} passed over: not active`);
  if (globals.dryRun) {
    await prepareFiles(plan.items, { dryRun: true });
    await printResult(context, planRows(plan), shapeOf(context));
    return 0;
  }
  if (plan.items.length === 0) {
    if (isForPrograms(context)) await printResult(context, [], shapeOf(context));
    await context.notice("Nothing to rotate");
    // A run that was killed after its last answer left one in which all is done.
    await journal.close();
    return 0;
  }
  await requireSecretsShown(context, plan);
  await confirm(context, plan, ids.length > 0);
  await prepareFiles(plan.items, { dryRun: false });
  const file = plan.items.find(({ sink }) => sink.kind === "file");
  if (file) await warnOfGit(context, rotationSinkText(file.sink));
  const sinks = sinkContext(context, false);
  const printer = streamPrinter(context);
  const done = await withSpinner(context, "Rotating", ({ say }) =>
    rotateKeys(plan.items, {
      rmm,
      sender,
      journal,
      signal: shell.signal,
      now: shell.now,
      say,
      tell: printer.tell,
      deliver: (item, rotated) => handOver(sinks, item, rotated),
    }),
  );
  const printed = await report(context, done, printer).catch((error: unknown) => {
    throw done.later.length === 0 ? error : notPrinted(error as Error, resumeCommand(context, options));
  });
  for (const { rotation, secret } of done.later) {
    if (printed.includes(secret)) await journal.settle(rotation, "delivered");
  }
  await journal.close();
  return finish(context, done, options, journal);
}

/** Secrets that are part of the result have to be in what is printed of it. */
async function requireSecretsShown(context: Context, { items }: RotationPlan): Promise<void> {
  if (!isForPrograms(context) || !items.some(({ sink }) => sink.kind === "stdout")) return;
  const sample = items.map(({ kind, id, name, organization }) => {
    const about = { kind, key: name, changes: [], item: { line: null, name }, id, name, organization };
    return { ...about, outcome: "done", newId: id, keyPrefix: "prefix", sink: "stdout", secret: SECRET };
  });
  const hint = "Choose secret too, or give --secret-dir or --secret-command";
  await requireShown(context, { secrets: ["secret"], sample, hint });
}

/** A secret that is part of the printed result is safe only once the result is printed. */
async function handOver(
  sinks: SinkContext,
  item: RotationItem,
  rotated: { id: string; secret: string },
): Promise<"safe" | "later"> {
  try {
    await deliverTo(item.sink, rotated.secret, { ...item, newId: rotated.id }, sinks);
  } catch (error) {
    throw new CliError(`The key was rotated, but its secret was not delivered: ${(error as Error).message}`, {
      exit: "partial",
      code: "SECRET_NOT_DELIVERED",
      hint: "--resume within a day fetches the same secret; after that it makes a new one",
    });
  }
  return item.sink.kind === "stdout" && sinks.forPrograms ? "later" : "safe";
}

/** `--yes` answers; for all keys there are, and for a person who wants to be sure, their number has to be given. */
async function confirm(context: Context, plan: RotationPlan, named: boolean): Promise<void> {
  const { globals, shell, interactive } = context;
  const count = plan.items.length;
  const place = placeText(context);
  if (globals.confirm !== undefined || (globals.all && !named)) {
    if (globals.confirm === undefined && !interactive) throw missingInput([`--confirm=${count}`]);
    const typed =
      globals.confirm ?? (await prompterOf(shell).text(`Rotate all ${count} keys ${place}. Type ${count} to go on`));
    if (typed.trim() === String(count)) return;
    throw declined(`${counted(count, "key")} would be rotated: nothing was done`, `Confirm with --confirm=${count}`);
  }
  if (globals.yes) return;
  if (!interactive) throw missingInput(["--yes"], "See first what it would do: --dry-run");
  for (const { action, kind, name, organization, sink, note } of planRows(plan)) {
    const where = organization === null ? name : `${organization} / ${name}`;
    await context.notice(`${action} ${kind} ${where} → ${sink}${note === null ? "" : ` (${note})`}`);
  }
  const question = `Rotate ${counted(count, "key")} ${place}? The old material stops at once`;
  if (!(await prompterOf(shell).confirm(question))) throw declined("Nothing was rotated");
}

const notPrinted = ({ message }: Error, resume: string): CliError =>
  new CliError(`Keys were rotated, but their secrets were not delivered: ${message}`, {
    exit: "partial",
    code: "SECRET_NOT_DELIVERED",
    hint: `Within a day the same secrets can still be fetched: \`${resume}\``,
  });

/** What can be printed, of a plan or of results. */
function shapeOf(context: Context): Shape {
  if (context.globals.dryRun) return { fields: planColumns, columns: planColumns, keep: ["name"] };
  return isForPrograms(context)
    ? { fields: rotationResultFields }
    : { fields: resultColumns, columns: resultColumns, keep: ["name"] };
}

/** After Ctrl-C they are counted, not listed: a person looks for what failed. */
const isLeftByInterrupt = ({ outcome, error }: RotationRun["results"][number]): boolean =>
  outcome === "skipped" && error?.code === "INTERRUPTED";

/** With a secret on stdout the facts go to stderr. Returns what stdout has beside such a secret. */
async function report(context: Context, { results }: RotationRun, printer: StreamPrinter): Promise<string> {
  if (printer.streams) return printer.end();
  if (isForPrograms(context)) return printAndTell(context, results, shapeOf(context));
  if (!results.some(({ secret }) => secret !== undefined)) {
    const listed = results.filter((one) => !isLeftByInterrupt(one));
    return printAndTell(context, listed.map(resultRow), shapeOf(context));
  }
  for (const { outcome, kind, name, newId, id, keyPrefix } of results.filter((one) => !isLeftByInterrupt(one))) {
    await context.notice(`${outcome}: ${kind} ${name}, id ${newId ?? id}${keyPrefix ? `, ${keyPrefix}…` : ""}`);
  }
  return "";
}

async function finish(
  context: Context,
  { results, exits }: RotationRun,
  options: RotateOptions,
  journal: Journal,
): Promise<number> {
  const count = (outcome: string) => results.filter((one) => one.outcome === outcome).length;
  const parts = [`${count("done")} of ${counted(results.length, "key")} rotated`];
  if (count("failed") > 0) parts.push(`${count("failed")} failed`);
  if (count("skipped") > 0) parts.push(`${count("skipped")} not tried`);
  await context.notice(parts.join(", "));
  for (const { outcome, name, error } of results) {
    if (outcome === "failed" && error) await context.notice(`! ${name}: ${error.message} (${error.code})`);
  }
  const exit = exitOf(context, results, exits, journal.open);
  if (exit === "ok") return exitCode("ok");
  if (exit === "interrupted") await context.notice("Interrupted. The secrets of all rotated keys were delivered");
  if (journal.open > 0)
    await context.notice(`A secret still has to be fetched: \`${resumeCommand(context, options)}\``);
  else if (count("skipped") > 0) await context.notice(goOn(context, options, results));
  return exitCode(exit);
}

/** What was rotated is young then; by any other choice it would be rotated again. */
function goOn(context: Context, options: RotateOptions, results: RotationRun["results"]): string {
  if (options.olderThan !== undefined) return "Running the same command again goes on with the others";
  const rest = results.filter(({ outcome }) => outcome === "skipped").map(({ id }) => id);
  return `To go on with the others: \`${resumeCommand(context, options, rest)}\``;
}

function exitOf(
  { shell }: Context,
  results: RotationRun["results"],
  failed: readonly ExitName[],
  unfinished: number,
): ExitName {
  const count = (outcome: string) => results.filter((one) => one.outcome === outcome).length;
  const run = { done: count("done"), failed, skipped: count("skipped"), interrupted: shell.signal.aborted };
  const exit = exitOfItems(run);
  return exit === "ok" && unfinished > 0 ? "partial" : exit;
}
