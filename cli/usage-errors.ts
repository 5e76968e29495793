import { type Command, CommanderError } from "commander";
import { suggestions } from "#contract/core/suggest";
import { type CliError, usageError } from "./errors/cli-error.ts";
import { nouns } from "./generated/nouns.ts";
import { nounsWithin, spellingOf } from "./noun-aliases.ts";

/** The command that the words reach, or the last group on the way to it. */
export function reachedBy(program: Command, words: readonly string[]): Command {
  let at = program;
  for (const word of words) {
    const next = at.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) break;
    at = next;
  }
  return at;
}

/** What a command is shown by in its group; of a noun that may be two words. */
export const nameOf = (command: Command): string =>
  command.parent !== null && command.parent.parent === null ? spellingOf(command.name()) : command.name();

/** `rmm devices list`; with the words of the command line as it was typed: `rmm filters run`. */
export function lineOf(command: Command, words: readonly string[] = []): string {
  const path: Command[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) path.unshift(at);
  return path.map((at, depth) => (isAliasOf(at, words[depth - 1]) ? words[depth - 1] : nameOf(at))).join(" ");
}

const isAliasOf = (command: Command, word: string | undefined): boolean =>
  word !== undefined && command.aliases().includes(word);

/** Where a group's commands, or a command's flags, are explained. */
export const helpOf = (command: Command, words?: readonly string[]): string =>
  command.commands.length > 0
    ? `\`${lineOf(command, words)} --help\` lists its commands`
    : `\`${lineOf(command, words)} --help\` explains its flags and arguments`;

/** What the parser of the command line found wrong, in this program's words. */
export function usageErrorOf(
  error: CommanderError,
  { program, words, json }: { program: Command; words: readonly string[]; json: boolean },
): CliError {
  const at = reachedBy(program, words);
  return usageError(messageOf(error, at, words), hintOf(error, at, words, json));
}

/** The parser shows the help of a group before it looks at the word behind it; undefined where every word is known. */
export function unknownCommandIn(program: Command, words: readonly string[]): CommanderError | undefined {
  const at = reachedBy(program, words);
  let depth = 0;
  for (let above = at.parent; above !== null; above = above.parent) depth += 1;
  const word = words[depth];
  if (at.commands.length === 0 || word === undefined) return undefined;
  return new CommanderError(1, "commander.unknownCommand", `error: unknown command '${word}'`);
}

function closest(named: string, words: readonly string[]): string {
  const [meant] = suggestions(named, words);
  return meant === undefined ? "" : ` (did you mean ${meant}?)`;
}

/** What may stand behind a group, as it is listed and by short names. */
const wordsIn = (group: Command): string[] => [
  ...group
    .createHelp()
    .visibleCommands(group)
    .flatMap((one) => [nameOf(one), one.name(), ...one.aliases()]),
  ...nounsWithin(group.name()).map(([word]) => word),
];

/** The value after `=` of a mistyped flag may be a secret. */
function messageOf({ code, message }: CommanderError, at: Command, words: readonly string[]): string {
  const line = lineOf(at, words);
  const text = message.replace(/^error: /, "").replace(/(--[\w-]+)=[^\n']*/g, "$1");
  const [, named = ""] = /'([^']*)'/.exec(text) ?? [];
  const [, meant] = /\n\(Did you mean (.*)\?\)$/.exec(text) ?? [];
  const longer = longFlagOf(at, named);
  const close = (longer ?? meant) === undefined ? "" : ` (did you mean ${longer ?? meant}?)`;
  switch (code) {
    case "commander.unknownOption":
      return `\`${line}\` has no flag ${named}${close}`;
    case "commander.unknownCommand":
      return `There is no command ${line} ${named}${closest(named, wordsIn(at))}`;
    case "commander.optionMissingArgument":
      return `${named} lacks its value`;
    case "commander.excessArguments": {
      const [, most = "0", got = ""] = /Expected (\d+) arguments? but got (\d+)/.exec(text) ?? [];
      const takes = most === "0" ? "no arguments" : `at most ${most} argument${most === "1" ? "" : "s"}`;
      return `\`${line}\` takes ${takes}, and ${got} ${got === "1" ? "was" : "were"} given`;
    }
    default:
      return text.replace(/\n\((.*)\)$/, " ($1)");
  }
}

/** `--field-key` of `--key`: the one flag that ends so. */
function longFlagOf(at: Command, named: string): string | undefined {
  if (!/^--\w/.test(named)) return undefined;
  const [found, ...others] = at.options.flatMap(({ long }) => (long?.endsWith(named.slice(1)) ? [long] : []));
  return others.length === 0 ? found : undefined;
}

/** What a word too many may have been meant for. */
function requiredFlagsOf(at: Command): string {
  const flags = at.options.flatMap(({ long, description }) =>
    long && /\brequired[);]/.test(description) ? [long] : [],
  );
  return flags.length === 0 ? "" : `Flags that it needs: ${flags.join(", ")}. `;
}

function hintOf({ code, message }: CommanderError, at: Command, words: readonly string[], json: boolean): string {
  const [, flag = ""] = /'([^'=]*)/.exec(message) ?? [];
  const isMeant = longFlagOf(at, flag) !== undefined;
  if (code === "commander.unknownOption" && !isMeant && /'--[\w-]*(password|secret|token|key|code)\b/.test(message)) {
    return `Secrets are read from a file or from stdin, never from arguments: ${helpOf(at, words)}`;
  }
  if (code === "commander.excessArguments" && json) return "To choose fields write --json=id,name, with an equals sign";
  if (code === "commander.excessArguments") return requiredFlagsOf(at) + helpOf(at, words);
  if (code !== "commander.unknownCommand") return helpOf(at, words);
  const [, unknown = ""] = /'([^']*)'/.exec(message) ?? [];
  const elsewhere = [...commandsBelow(at, unknown), ...commandsElsewhere(words), ...otherWord(at, unknown)];
  return elsewhere.length === 0 ? helpOf(at, words) : `There is ${elsewhere.map((one) => `\`${one}\``).join(", ")}`;
}

/** `rmm auth mfa step-up` of `auth step-up`. */
function commandsBelow(group: Command, unknown: string): string[] {
  const leaves = (at: Command): Command[] => (at.commands.length === 0 ? [at] : at.commands.flatMap(leaves));
  return group.parent === null
    ? []
    : leaves(group)
        .filter((leaf) => leaf.name() === unknown)
        .map((leaf) => lineOf(leaf));
}

/** The commands of that name of the groups that share a word with the one that was meant: `audit-logs list` of `audit list`. */
function commandsElsewhere([group = "", verb]: readonly string[]): string[] {
  const near = nouns.filter(
    ({ noun }) => noun !== group && [...noun.split("-"), noun.replace(/s$/, "")].includes(group),
  );
  near.sort((a, b) => a.noun.length - b.noun.length);
  return near
    .filter(({ verbs }) => verbs.some(({ name }) => name === verb))
    .map(({ noun }) => `rmm ${spellingOf(noun)} ${verb}`);
}

/** What others call it. */
const otherWords: Readonly<Record<string, readonly string[]>> = {
  remove: ["delete", "rm", "destroy"],
  get: ["show", "view", "describe", "info"],
  create: ["add", "new"],
  update: ["edit", "change", "modify"],
  list: ["ls", "all"],
};

function otherWord(group: Command, unknown: string): string[] {
  const meant = Object.entries(otherWords).find(([, others]) => others.includes(unknown))?.[0];
  return group.commands.filter((one) => one.name() === meant).map((one) => lineOf(one));
}
