import type { Command } from "commander";
import { type Context, openContext } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import type { Globals } from "../../globals.ts";
import { isForPrograms } from "../../output/print.ts";
import { counted, durationText, estimatedReads, PER_MINUTE, secondsFor } from "../../provisioning/budget.ts";
import { loadFile } from "../../provisioning/load-file.ts";
import { makePlan } from "../../provisioning/make-plan.ts";
import { paced, type Sender } from "../../provisioning/sender.ts";
import type { SinkContext } from "../../provisioning/sinks.ts";
import { type Shell, writeTo } from "../../shell.ts";

/** Flags that `plan` and `apply` share. */
export interface FileOptions {
  partner?: string;
  sinkDir?: string;
  redeliver?: boolean;
  sinkCheck?: boolean;
  rate?: string;
  allowDelete?: boolean;
}

export function addFileOptions(command: Command): void {
  command
    .argument("[file]", "provisioning file, YAML or JSON; - for stdin")
    .usage("<file> [flags]")
    .option("--allow-delete", "delete what the file does not list any more")
    .option("--partner <partner>", "slug or id of the partner, for system scope; instead of the file's")
    .option("--sink-dir <path>", "where relative file sinks count from (default: the folder of the file)")
    .option("--redeliver", "give secrets of github-output and stdout sinks again, up to a day after the key was made")
    .option("--no-sink-check", "do not look whether secrets of existing keys are in their files")
    .option("--rate <n>", `most requests a minute; 0: no limit (default ${PER_MINUTE}; the API allows 1,000)`);
}

/** One run of `plan` or `apply`, up to the plan. */
export interface Planned extends Awaited<ReturnType<typeof makePlan>> {
  readonly context: Context;
  readonly sender: Sender;
  readonly sinks: SinkContext;
  readonly file: string;
  readonly perMinute: number;
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
  const reads = estimatedReads(model);
  await context.notice(
    `Reading ${counted(model.organizations.length, "organization")} from ${context.settings.server.value}: about ${reads} requests, ${durationText(secondsFor(reads, perMinute))}`,
  );
  const onWait = (ms: number, why: string) => void context.notice(`Waiting ${Math.ceil(ms / 1000)} s: ${why}`);
  const sender = paced({ perMinute, signal: shell.signal, onWait });
  const sinks = sinkContext(context, options.redeliver === true);
  const rmm = await context.client();
  const checkSinks = options.sinkCheck !== false;
  const { live, plan } = await makePlan(model, { rmm, sender, nowMs: shell.now(), sinks, checkSinks });
  return { context, sender, sinks, live, plan, file, perMinute };
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
