import type { Command } from "commander";
import { commandGroups } from "./commands/index.ts";
import { nouns } from "./generated/nouns.ts";
import { programFor } from "./program.ts";

/** A command that runs, with the words that call it. */
export interface Leaf {
  path: string[];
  command: Command;
}

/** Every command of the tree that is not hidden. */
export async function leaves(): Promise<Leaf[]> {
  const found: Leaf[] = [];
  const walk = (at: Command, path: string[]) => {
    if (at.commands.length === 0) found.push({ path, command: at });
    for (const child of at.commands) walk(child, [...path, child.name()]);
  };
  const visible = Object.entries(commandGroups).filter(([, { hidden }]) => !hidden);
  for (const name of new Set([...visible.map(([one]) => one), ...nouns.map(({ noun }) => noun)])) {
    const group = (await programFor(name)).commands.find((one) => one.name() === name)!;
    walk(group, [name]);
  }
  return found;
}
