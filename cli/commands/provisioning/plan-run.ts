import { dirname, resolve } from "node:path";
import { type Context, getCredential, openContext } from "../../context.ts";
import { CliError, usageError } from "../../errors/cli-error.ts";
import { commandToType } from "../../errors/commands-to-type.ts";
import type { Globals } from "../../globals.ts";
import { fileName, readText } from "../../input/read-text.ts";
import { aboutText, counted, estimatedReads, secondsFor } from "../../provisioning/budget.ts";
import { loadModel } from "../../provisioning/load-file.ts";
import type { FileOrganization, ProvisioningModel } from "../../provisioning/model.ts";
import { type PlanOptions, readSavedPlan, type SavedPlan } from "../../provisioning/saved-plan.ts";
import { paced } from "../../provisioning/sender.ts";
import type { Shell } from "../../shell.ts";
import { applyCommand, type FileOptions, rateOf, sinkContext } from "./options.ts";
import { type Planned, plannedByPartnerKey, plannedByUser } from "./planned.ts";
import { waitTeller } from "./wait-teller.ts";

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
  if (source.saved && !savedToo)
    throw usageError(
      `${file} is a saved plan`,
      `Carry it out with: \`${commandToType(["apply", file], {}, globals.given)}\``,
    );
  const { org: only, partner } = source.options;
  const model = await loadModel(source.text, source.name, { partner, only, sinkDir: source.sinkFolder });
  const { kind } = await getCredential(context);
  if (source.saved) requireSameCaller(source.saved, context, kind);
  const pace = options.pace === true;
  const byKey = kind === "partnerKey";
  const sender = paced({
    perMinute,
    signal: shell.signal,
    sleep: shell.sleep,
    onWait: waitTeller(context, applyCommand(file, options, globals)),
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
    tellReading: (there?: readonly FileOrganization[]) => tellReading(context, model, perMinute, there),
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
  const text = await readText(shell, file, options.encoding);
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
  { organizations }: ProvisioningModel,
  perMinute: number,
  there: readonly FileOrganization[] | undefined,
): Promise<void> {
  const { value: server } = context.settings.server;
  if (there === undefined)
    return context.notice(`Reading ${counted(organizations.length, "organization")} from ${server}: both exports`);
  if (there.length === 0) return context.notice(`None of the file's organizations is at ${server} yet`);
  const reads = estimatedReads(there);
  const time = aboutText(secondsFor(reads, perMinute));
  const long = time === "" ? "" : `: ${counted(reads, "request")}${time}`;
  await context.notice(`Reading ${counted(there.length, "organization")} from ${server}${long}`);
}

/** Longer is an hour's budget that is used up: that takes --pace. */
const LONGEST_WAIT_MS = 60_000;
