import { load } from "../generated/load.ts";
import type { CommandSpec } from "../manifest.ts";
import { mints } from "./secret-fields.ts";

/** The commands of one noun; none for a name that is no noun. */
export async function commandsOf(noun: string): Promise<readonly CommandSpec[]> {
  return Object.hasOwn(load, noun) ? (await load[noun]!()).commands : [];
}

/** The command that gives a row of this noun a new secret, where one id is all it takes. */
export const renewingOf = async (noun: string): Promise<CommandSpec | undefined> =>
  (await commandsOf(noun)).find((one) => one.loses === "secret" && one.params.length === 1 && mints(one));
