import { load } from "../generated/load.ts";
import type { CommandSpec } from "../manifest.ts";

/** The commands of one noun; none for a name that is no noun. */
export async function commandsOf(noun: string): Promise<readonly CommandSpec[]> {
  return Object.hasOwn(load, noun) ? (await load[noun]!()).commands : [];
}
