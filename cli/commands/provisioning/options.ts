import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { type Context, getCredential, openContext } from "../../context.ts";
import { CliError, usageError } from "../../errors/cli-error.ts";
import type { Globals } from "../../globals.ts";
import { isForPrograms } from "../../output/print.ts";
import { counted, durationText, estimatedReads, PER_MINUTE, secondsFor } from "../../provisioning/budget.ts";
import { fileName, loadModel, readSource } from "../../provisioning/load-file.ts";
import type { ProvisioningModel } from "../../provisioning/model.ts";
import { type PlanOptions, readSavedPlan, type SavedPlan } from "../../provisioning/saved-plan.ts";
import { paced } from "../../provisioning/sender.ts";
import type { SinkContext } from "../../provisioning/sinks.ts";
import { type Shell, writeTo } from "../../shell.ts";
import { type Planned, plannedByPartnerKey, plannedByUser } from "./planned.ts";

/** Flags that `plan`, `apply` and `diff` share. */
export interface FileOptions {
  partner?: string;
  sinkDir?: string;
  redeliver?: boolean;
  sinkCheck?: boolean;
  rate?: string;
  allowDelete?: boolean;
  pace?: boolean;
}

/** Flags of a command that compares. */
export function addReadOptions(command: Command): void {
  command
    .argument("[file]", "provisioning file, YAML or JSON; - for stdin")
    .usage("<file> [flags]")
    .option("--partner <partner>", "slug, name or id of the partner, for system scope; instead of the file's")
    .option("--sink-dir <path>", "where relative file sinks count from (default: the folder of the file)")
    .option(
      "--no-sink-check",
      "do not look for secrets of existing keys; with a partner key: those of existing organizations count as made",
    )
    .option("--rate <n>", `most requests a minute; 0: no limit (default ${PER_MINUTE}; the API allows 1,000)`);
}

/** Flags of a command that plans changes. */
export function addFileOptions(command: Command): void {
  addReadOptions(command);
  command
    .option(
      "--allow-delete",
      "delete the sites, contacts and keys that a list of the file leaves out; never organizations",
    )
    .option("--redeliver", "give secrets of github-output and stdout sinks again, up to a day after the key was made")
    .option("--pace", "with a partner key: wait for each hour's budget of 120 writes and 10 minted keys");
}

/** What is planned from: a provisioning file, or a plan that was saved. */
interface Source {
  /** As messages name it. */
  readonly name: string;
  readonly text: string;
  readonly sinkFolder: string;
  readonly options: PlanOptions;
  readonly saved?: SavedPlan;
}

/** Reads the file and the server, and compares them. A saved plan is worked out again, for `apply` alone. */
export async function planRun(
  shell: Shell,
  globals: Globals,
  file: string | undefined,
  options: FileOptions,
  { savedToo = false } = {},
): Promise<Planned> {
  if (file === undefined) throw usageError("Missing: <file>", "A provisioning file, or - for stdin");
  const context = await openContext(shell, globals);
  const perMinute = rateOf(options.rate);
  const source = await sourceOf(shell, globals, file, options);
  if (source.saved && !savedToo) throw usageError(`${file} is a saved plan`, `Carry it out with: rmm apply ${file}`);
  const { org: only, partner } = source.options;
  const model = await loadModel(source.text, source.name, { partner, only, sinkDir: source.sinkFolder });
  const { kind } = await getCredential(context);
  if (source.saved) requireSameCaller(source.saved, context, kind);
  await tellReading(context, model, { byKey: kind === "partnerKey", perMinute });
  const pace = options.pace === true;
  const byKey = kind === "partnerKey";
  const sender = paced({
    perMinute,
    signal: shell.signal,
    onWait: waitTeller(context, applyCommand(file, options)),
    ...(byKey ? { maxWaitMs: pace ? Number.POSITIVE_INFINITY : LONGEST_WAIT_MS } : {}),
    ...(pace ? { rateLimitTries: Number.POSITIVE_INFINITY } : {}),
  });
  const sinks = sinkContext(context, source.options.redeliver);
  const { sinkCheck: checkSinks, allowDelete } = source.options;
  const input = {
    context,
    sender,
    sinks,
    perMinute,
    checkSinks,
    allowDelete,
    pace,
    ...namesOf(file, source),
    by: kind,
  };
  return byKey ? plannedByPartnerKey(input, model) : plannedByUser(input, model);
}

const namesOf = (path: string, { name, text, sinkFolder, options, saved }: Source) => ({
  path,
  file: name,
  source: { text, sinkFolder, options },
  ...(saved === undefined ? {} : { saved }),
});

async function sourceOf(shell: Shell, globals: Globals, file: string, options: FileOptions): Promise<Source> {
  const text = await readSource(shell, file);
  const own = file === "-" ? "." : dirname(file);
  const saved = readSavedPlan(text, fileName(file));
  if (saved) {
    refuseDecided(globals, options);
    const { source } = saved;
    const sinkFolder = options.sinkDir ?? resolve(own, source.folder);
    return { name: source.name, text: source.text, sinkFolder, options: saved.options, saved };
  }
  const chosen: PlanOptions = {
    allowDelete: options.allowDelete === true,
    redeliver: options.redeliver === true,
    sinkCheck: options.sinkCheck !== false,
    ...(globals.org === undefined ? {} : { org: globals.org }),
    ...(options.partner === undefined ? {} : { partner: options.partner }),
  };
  return { name: fileName(file), text, sinkFolder: options.sinkDir ?? own, options: chosen };
}

/** A saved plan has answered these. */
function refuseDecided({ org }: Globals, { allowDelete, redeliver, sinkCheck, partner }: FileOptions): void {
  const given = [
    ...(allowDelete ? ["--allow-delete"] : []),
    ...(redeliver ? ["--redeliver"] : []),
    ...(sinkCheck === false ? ["--no-sink-check"] : []),
    ...(partner === undefined ? [] : ["--partner"]),
    ...(org === undefined ? [] : ["--org"]),
  ];
  if (given.length > 0)
    throw usageError(`A saved plan was made with or without ${given.join(" and ")}: plan again with it`);
}

/** Another kind of credential sees and may do other things; another server has other customers. */
function requireSameCaller(saved: SavedPlan, { settings }: Context, kind: string): void {
  const { server } = settings;
  const other =
    saved.server !== server.value
      ? `was made for ${saved.server}, and this is ${server.value}`
      : saved.by !== kind
        ? "was made with another kind of credential"
        : undefined;
  if (other === undefined) return;
  throw new CliError(`The plan ${other}`, {
    exit: "conflict",
    code: "PLAN_STALE",
    hint: "Plan again. Nothing was changed",
  });
}

async function tellReading(
  context: Context,
  model: ProvisioningModel,
  { byKey, perMinute }: { byKey: boolean; perMinute: number },
): Promise<void> {
  const reads = byKey ? "both exports" : `about ${estimatedReads(model)} requests`;
  const seconds = byKey ? "" : `, ${durationText(secondsFor(estimatedReads(model), perMinute))}`;
  const organizations = counted(model.organizations.length, "organization");
  await context.notice(`Reading ${organizations} from ${context.settings.server.value}: ${reads}${seconds}`);
}

/** Longer is an hour's budget that is used up: that takes --pace. */
const LONGEST_WAIT_MS = 60_000;

/** The command that goes on where a run of it ended. */
export const applyCommand = (file: string, { pace, allowDelete, sinkDir }: FileOptions): string =>
  [
    `rmm apply ${file} --yes`,
    ...(pace ? ["--pace"] : []),
    ...(allowDelete ? ["--allow-delete"] : []),
    ...(sinkDir === undefined ? [] : [`--sink-dir ${sinkDir}`]),
  ].join(" ");

/** Many calls wait for the same moment, and a call for the same reason again and again. */
const SILENT_MS = 15_000;

/** Tells of the first wait for each reason at once, of later ones now and then. */
function waitTeller(context: Context, again: string): (ms: number, why: string) => void {
  const silentUntil = new Map<string, number>();
  return (ms, why) => {
    const nowMs = context.shell.now();
    const until = silentUntil.get(why) ?? 0;
    if (nowMs < until && nowMs + ms < until + 2 * SILENT_MS) return;
    silentUntil.set(why, nowMs + Math.max(SILENT_MS, ms));
    const goOn = ms > 120_000 ? `. Ctrl-C is safe; go on with: ${again}` : "";
    void context.notice(`Waiting ${durationText(Math.ceil(ms / 1000))}: ${why}${goOn}`);
  };
}

function rateOf(text: string | undefined): number {
  if (text === undefined) return PER_MINUTE;
  if (!/^\d{1,6}$/.test(text)) throw usageError("--rate must be a whole number from 0");
  return Number(text);
}

/** What sinks need to know of this run. */
export function sinkContext(context: Context, redeliver: boolean): SinkContext {
  const { shell } = context;
  return {
    env: shell.env,
    forPrograms: isForPrograms(context),
    redeliver,
    writeUnmasked: (line) => new Promise((resolve) => shell.stderr.write(line, () => resolve())),
    keepOut: (secret) => void shell.secrets.add(secret),
    writeOut: (line) => writeTo(shell, "stdout", line),
  };
}
