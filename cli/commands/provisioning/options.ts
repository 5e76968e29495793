import type { Command } from "commander";
import { type Context, getCredential, openContext } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import type { Globals } from "../../globals.ts";
import { isForPrograms } from "../../output/print.ts";
import { counted, durationText, estimatedReads, PER_MINUTE, secondsFor } from "../../provisioning/budget.ts";
import { loadFile } from "../../provisioning/load-file.ts";
import { paced } from "../../provisioning/sender.ts";
import type { SinkContext } from "../../provisioning/sinks.ts";
import { type Shell, writeTo } from "../../shell.ts";
import { type Planned, plannedByPartnerKey, plannedByUser } from "./planned.ts";

/** Flags that `plan` and `apply` share. */
export interface FileOptions {
  partner?: string;
  sinkDir?: string;
  redeliver?: boolean;
  sinkCheck?: boolean;
  rate?: string;
  allowDelete?: boolean;
  pace?: boolean;
}

export function addFileOptions(command: Command): void {
  command
    .argument("[file]", "provisioning file, YAML or JSON; - for stdin")
    .usage("<file> [flags]")
    .option(
      "--allow-delete",
      "delete the sites, contacts and keys that a list of the file leaves out; never organizations",
    )
    .option("--partner <partner>", "slug or id of the partner, for system scope; instead of the file's")
    .option("--sink-dir <path>", "where relative file sinks count from (default: the folder of the file)")
    .option("--redeliver", "give secrets of github-output and stdout sinks again, up to a day after the key was made")
    .option(
      "--no-sink-check",
      "do not look for secrets of existing keys; with a partner key: those of existing organizations count as made",
    )
    .option("--pace", "with a partner key: wait for each hour's budget of 120 writes and 10 minted keys")
    .option("--rate <n>", `most requests a minute; 0: no limit (default ${PER_MINUTE}; the API allows 1,000)`);
}

/** Reads the file and the server, and compares them. */
export async function planRun(
  shell: Shell,
  globals: Globals,
  file: string | undefined,
  options: FileOptions,
): Promise<Planned> {
  if (file === undefined) throw usageError("Missing: <file>", "A provisioning file, or - for stdin");
  const context = await openContext(shell, globals);
  const perMinute = rateOf(options.rate);
  const { partner, sinkDir } = options;
  const model = await loadFile(shell, file, { partner, sinkDir, only: globals.org });
  const { kind } = await getCredential(context);
  const byKey = kind === "partnerKey";
  const reads = byKey ? "both exports" : `about ${estimatedReads(model)} requests`;
  const seconds = byKey ? "" : `, ${durationText(secondsFor(estimatedReads(model), perMinute))}`;
  const organizations = counted(model.organizations.length, "organization");
  await context.notice(`Reading ${organizations} from ${context.settings.server.value}: ${reads}${seconds}`);
  const pace = options.pace === true;
  const sender = paced({
    perMinute,
    signal: shell.signal,
    onWait: waitTeller(context, applyCommand(file, options)),
    ...(byKey ? { maxWaitMs: pace ? Number.POSITIVE_INFINITY : LONGEST_WAIT_MS } : {}),
    ...(pace ? { rateLimitTries: Number.POSITIVE_INFINITY } : {}),
  });
  const sinks = sinkContext(context, options.redeliver === true);
  const input = { context, sender, sinks, file, perMinute, checkSinks: options.sinkCheck !== false, pace };
  return byKey ? plannedByPartnerKey(input, model) : plannedByUser(input, model);
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

/** Tells of a wait once, however many calls wait for the same moment. */
function waitTeller(context: Context, again: string): (ms: number, why: string) => void {
  let toldUntilMs = 0;
  return (ms, why) => {
    const untilMs = context.shell.now() + ms;
    if (untilMs < toldUntilMs + 30_000 && ms > 60_000) return;
    toldUntilMs = untilMs;
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
