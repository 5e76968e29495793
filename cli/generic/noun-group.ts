import type { Command } from "commander";
import { openContext } from "../context.ts";
import { encodingOption } from "../input/read-text.ts";
import type { CommandSpec } from "../manifest.ts";
import type { Run } from "../register.ts";
import { takes } from "../taken-flags.ts";
import { commandsOf } from "./commands-of.ts";
import { endpointFlags, takesFile, takesMany, takesPartner, takesSecretDir } from "./endpoint-flags.ts";
import { takesIfNotExists } from "./existing.ts";
import { addFieldFlags } from "./fields.ts";
import { addWhereBeside, besideWhere } from "./filter-field.ts";
import { accessOf, examplesOf } from "./help-text.ts";
import { takesOwnPassword, withOwnPassword, withoutPasswordFlag } from "./own-password.ts";
import { describeParam } from "./path-params.ts";
import { placeholderOf } from "./placeholder.ts";
import { runEndpoint } from "./run-endpoint.ts";
import { mints } from "./secret-fields.ts";

/** Adds `rmm <noun> <verb>` for every endpoint of a noun; if one is called, the others by their names alone, for speed. */
export async function addNoun(group: Command, noun: string, run: Run, called?: string): Promise<void> {
  const commands = await commandsOf(noun);
  const isCalled = commands.some(({ name }) => name === called);
  for (const spec of commands) {
    if (isCalled && spec.name !== called) group.command(spec.name).summary(spec.summary);
    else addEndpoint(group, spec, run);
  }
  if (isCalled) return;
  const shown = commands.filter(({ name }) => name === "list" || name === "create");
  // Most who read a help page are people; an agent has no use for one.
  const ofPeople = commands.filter(({ access }) => access.kinds.includes("user"));
  const others = (ofPeople.length > 0 ? ofPeople : commands).slice(0, 2);
  const lines = (shown.length > 0 ? shown : others).map((spec) => examplesOf(spec).split("\n")[1]);
  group.addHelpText("before", `Examples:\n${lines.join("\n")}\n`);
}

/** Adds the command of one endpoint: path parameters as arguments, fields as flags. */
export function addEndpoint(group: Command, spec: CommandSpec, run: Run): Command {
  const command = takes(group.command(spec.name).summary(spec.summary), ...endpointFlags(spec));
  command.description([spec.summary, spec.description].filter(Boolean).join(".\n"));
  for (const param of spec.params)
    command.argument(`[${placeholderOf(param).slice(1, -1)}]`, describeParam(spec, param));
  command.usage([...spec.params.map(placeholderOf), "[flags]"].join(" "));
  const asked = withOwnPassword(spec, {});
  addFieldFlags(command, besideWhere(asked));
  addWhereBeside(command, asked);
  if (takesOwnPassword(spec)) command.option(...withoutPasswordFlag);
  if (takesPartner(spec))
    command.option("--partner <partner>", "partner in which names are looked up (slug, name or id)");
  if (takesFile(spec)) {
    command.option("-f, --file <path>", "take the body, or a list of them, from a file or - (JSON, NDJSON, CSV, YAML)");
    command.option(...encodingOption);
    if (takesMany(spec)) command.option("--concurrency <n>", "with a list: how many are sent at once (default 1)");
  }
  if (takesIfNotExists(spec)) command.option("--if-not-exists", "leave what is there by that name alone");
  if (mints(spec)) command.option("--secret-file <path>", "write the secret to a new file only you can read");
  if (takesSecretDir(spec))
    command.option("--secret-dir <path>", "with a list: write each secret to a file of its own there");
  command.addHelpText("before", () => examplesOf(asked));
  command.addHelpText("after", () => `\n${accessOf(spec)}`);
  return command.action((...all: unknown[]) =>
    run(async (shell, globals) => {
      const args = all.slice(0, spec.params.length) as (string | undefined)[];
      return runEndpoint(await openContext(shell, globals), spec, { args, options: command.opts() });
    }),
  );
}
