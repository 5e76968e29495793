import type { Command, Option } from "commander";
import { usageError } from "./errors/cli-error.ts";
import type { GlobalFlag } from "./globals.ts";
import { helpOf, lineOf } from "./usage-errors.ts";

/** Flags about how a run behaves. A command that prints, asks or sends nothing takes them too. */
const always: readonly GlobalFlag[] = ["json", "yes", "no-input", "debug", "quiet"];

/** Flags of a command that prints its own text for people and a value for programs. */
export const valued = ["json=", "ndjson", "jq"] as const satisfies readonly GlobalFlag[];
/** Flags of a command that prints one object. */
export const shaped = [...valued, "columns"] as const satisfies readonly GlobalFlag[];
/** Flags of a command that prints a table. */
export const tabular = [...shaped, "no-header", "wide"] as const satisfies readonly GlobalFlag[];
/** Flags of a command that calls a server. */
export const calling = ["server", "insecure-http", "profile", "timeout"] as const satisfies readonly GlobalFlag[];
/** Flags of a command that authenticates. */
export const proving = [...calling, "token-file", "token-stdin"] as const satisfies readonly GlobalFlag[];

const taken = new WeakMap<Command, ReadonlySet<GlobalFlag>>();

/** Says which global flags have an effect on a command. Any other is refused before the command does anything. */
export function takes<T extends Command>(command: T, ...flags: readonly GlobalFlag[]): T {
  taken.set(command, new Set(flags));
  return command;
}

export const takesFlag = (command: Command, flag: GlobalFlag): boolean =>
  always.includes(flag) || taken.get(command)?.has(flag) === true;

/** `profile add` takes `--insecure-http` too, to remember it, and calls nothing. */
export const callsServer = (command: Command): boolean =>
  takesFlag(command, "insecure-http") && takesFlag(command, "profile");

/** The flag's name in this list; the parser has `--json=id,name` as a separate option. */
export const flagOf = ({ long }: Option): GlobalFlag =>
  (long === "--json-fields" ? "json=" : long?.slice(2)) as GlobalFlag;

/** Refuses a global flag that would have no effect, rather than ignoring it silently. */
export function refuseForeignFlags(program: Command, command: Command, words: readonly string[] = []): void {
  const given = program.options.filter((one) => program.getOptionValueSource(one.attributeName()) === "cli");
  const foreign = given.map(flagOf).filter((flag) => flag !== ("version" as string) && !takesFlag(command, flag));
  if (foreign.length === 0) return;
  const flags = foreign.map((flag) => (flag === "json=" ? "--json=<fields>" : `--${flag}`)).join(", ");
  throw usageError(`\`${lineOf(command, words)}\` does not take ${flags}: nothing was done`, helpOf(command, words));
}
