import type { Command } from "commander";

/** A range of time; the organization is `--org`. */
export interface Narrowing {
  readonly from?: string;
  readonly to?: string;
}

export const addNarrowing = (command: Command): Command =>
  command
    .option("--from <time>", "from this time or day on")
    .option("--to <time>", "up to this time, or the end of this day");
