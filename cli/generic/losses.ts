import type { Context } from "../context.ts";
import type { CommandSpec } from "../manifest.ts";

/** What must be confirmed before a request is sent: nothing, a yes, the number of entries, or the slug of the tenant. */
export type Question = "none" | "yes" | "count" | "slug";

/** A tenant is confirmed by its slug and several entries by their number; `--yes` is not enough for either. */
export function questionBefore({ loses }: CommandSpec, count: number): Question {
  if (loses === "nothing") return "none";
  if (loses === "tenant") return "slug";
  return count > 1 ? "count" : "yes";
}

/** What must be given on the command line if no one can be asked. */
export function answersNeeded({ globals }: Context, spec: CommandSpec, count: number): string[] {
  const question = globals.dryRun ? "none" : questionBefore(spec, count);
  if (question === "none") return [];
  if (question === "yes") return globals.yes ? [] : ["--yes"];
  return globals.confirm === undefined ? [question === "slug" ? "--confirm=<slug>" : `--confirm=${count}`] : [];
}
