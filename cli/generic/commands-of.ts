import { nouns } from "../generated/nouns.ts";
import type { CommandSpec } from "../manifest.ts";

/** The commands of one noun. The bundle keeps each noun in a file of its own. */
export async function commandsOf(noun: string): Promise<readonly CommandSpec[]> {
  if (!nouns.some((one) => one.noun === noun)) return [];
  const module = (await import(`../generated/${noun}.ts`)) as { commands: readonly CommandSpec[] };
  return module.commands;
}
