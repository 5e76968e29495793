import type { Command } from "commander";
import { wrappedExamples } from "#cli/output/examples";
import { programFor } from "#cli/program";
import { lineOf } from "#cli/usage-errors";

export interface GroupHelp {
  readonly name: string;
  readonly summary: string;
  /** By the words that call it, in the order of the tree; a group without commands is one itself. */
  readonly commands: readonly { readonly path: string; readonly help: string }[];
}

const WIDTH = 80;

/** The help of every command that the help lists, as the command itself prints it. */
export async function helpTexts(): Promise<GroupHelp[]> {
  const root = await programFor(undefined);
  const shown = root.createHelp().visibleCommands(root);
  return Promise.all(shown.map((group) => groupHelp(group.name())));
}

async function groupHelp(name: string): Promise<GroupHelp> {
  const program = await programFor(name);
  const group = program.commands.find((one) => one.name() === name) as Command;
  return { name, summary: group.summary(), commands: leavesOf(group, lineOf(group)) };
}

function leavesOf(command: Command, path: string): GroupHelp["commands"] {
  if (command.commands.length > 0)
    return command.commands.flatMap((child) => leavesOf(child, `${path} ${child.name()}`));
  const written: string[] = [];
  command.configureOutput({ writeOut: (text) => void written.push(text), getOutHelpWidth: () => WIDTH });
  command.outputHelp();
  return [
    {
      path,
      help: wrappedExamples(written.join(""), WIDTH)
        .replace(/^Global flags [\s\S]*/m, "")
        .trim(),
    },
  ];
}
