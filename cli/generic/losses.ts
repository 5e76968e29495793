import type { Context } from "../context.ts";
import type { CommandSpec } from "../manifest.ts";

/** What is asked before a command is carried out: nothing, a yes, how many entries it takes, or the tenant's slug. */
export type Question = "none" | "yes" | "count" | "slug";

/** A whole tenant needs its slug typed, and many entries their number: `--yes` is not enough for either. */
export function questionBefore({ loses }: CommandSpec, count: number): Question {
  if (loses === "nothing") return "none";
  if (loses === "tenant") return "slug";
  return count > 1 ? "count" : "yes";
}

/** What has to be given on the command line where nobody can be asked. */
export function answersNeeded({ globals }: Context, spec: CommandSpec, count: number): string[] {
  const question = globals.dryRun ? "none" : questionBefore(spec, count);
  if (question === "none") return [];
  if (question === "yes") return globals.yes ? [] : ["--yes"];
  return globals.confirm === undefined ? [question === "slug" ? "--confirm=<slug>" : `--confirm=${count}`] : [];
}
