import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import { commandToType } from "../../errors/commands-to-type.ts";
import type { Globals } from "../../globals.ts";
import { encodingOption } from "../../input/read-text.ts";
import { isForPrograms } from "../../output/print.ts";
import { PER_MINUTE } from "../../provisioning/budget.ts";
import type { SinkContext } from "../../provisioning/sinks.ts";
import { writeTo, writeToWorkflow } from "../../shell.ts";

/** Flags that `plan`, `apply` and `diff` share. */
export interface FileOptions {
  encoding?: string;
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
    .option(...encodingOption)
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
    .option(
      "--redeliver",
      "give secrets of github-output and stdout sinks again, up to a day after the key was made; with a partner key: mint keys that it cannot see, even if they are there",
    )
    .option("--pace", "with a partner key: wait for each hour's budget of 120 writes and 10 minted keys");
}

/** The command that goes on where a run of it ended, as it was given. */
export function applyCommand(
  path: string,
  options: FileOptions,
  { org, given }: Pick<Globals, "org" | "given">,
  answer: "yes" | "dry-run" = "yes",
): string {
  const { pace, allowDelete, redeliver, sinkCheck, sinkDir, partner, rate, encoding } = options;
  const switches = {
    [answer]: true,
    pace,
    "allow-delete": allowDelete,
    redeliver,
    "no-sink-check": sinkCheck === false,
  };
  return commandToType(["apply", path], { ...switches, encoding, "sink-dir": sinkDir, partner, org, rate }, given);
}

/** Requests a minute that `--rate` asks for. */
export function rateOf(text: string | undefined): number {
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
    writeUnmasked: (line) => writeToWorkflow(shell, line),
    keepOut: (secret) => void shell.secrets.add(secret),
    writeOut: (line) => writeTo(shell, "stdout", line),
  };
}
