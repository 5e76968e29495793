import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { instantOf } from "../../generic/field-value.ts";

/** A range of time; the organization is `--org`. */
export interface Narrowing {
  readonly from?: string;
  readonly to?: string;
}

export const addNarrowing = (command: Command): Command =>
  command
    .option("--from <time>", "from this time or day on")
    .option("--to <time>", "up to this time, or the end of this day");

/** What is no time is told by the name of its flag, before anything is sent. */
export function rangeOf({ shell }: Context, { from, to }: Narrowing): Narrowing {
  const read = (text: string, source: string) => instantOf(text, { source, nowMs: shell.now(), where: "query" });
  return { ...(from && { from: read(from, "--from") }), ...(to && { to: read(to, "--to") }) };
}
