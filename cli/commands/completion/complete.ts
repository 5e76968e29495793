import type { Command } from "commander";
import { openContext } from "../../context.ts";
import { nouns } from "../../generated/nouns.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { attributeOf, type Field, fieldsOf } from "../../generic/fields.ts";
import { type Globals, globalFlagList, readGlobals, withNounOfWords } from "../../globals.ts";
import type { CommandSpec } from "../../manifest.ts";
import { nounsWithin } from "../../noun-aliases.ts";
import { escapeControls } from "../../output/escape.ts";
import { readProfiles } from "../../profile/profiles.ts";
import type { Program, Register } from "../../register.ts";
import { type Shell, writeTo } from "../../shell.ts";
import { takesFlag } from "../../taken-flags.ts";
import { liveOrgs, liveSites, liveWords } from "./live-names.ts";

type Candidate = readonly [text: string, about: string];

/** `rmm __complete -- words…`: completions of the last word. Never fails and prints nothing on stderr. */
export const registerComplete: Register = (command, run, program) => {
  command.argument("[words...]").action((words: string[]) =>
    run(async (shell) => {
      const current = typedOf(words);
      const found = await candidates(shell, program, words.slice(0, -1), current).catch(() => []);
      const fitting = found.filter(([text]) => text.toLowerCase().startsWith(current.toLowerCase()));
      const line = ([text, about]: Candidate) => `${escapeControls(text)}\t${escapeControls(about)}`;
      await writeTo(shell, "stdout", fitting.map((one) => `${line(one)}\n`).join(""));
      return 0;
    }),
  );
};

/** The last word; an expression without the quote that it began with, which the shell hands over as it stands. */
function typedOf(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  if (words.at(-2) !== "--where") return last;
  return /^['"]/.test(last) ? last.slice(1) : last.replace(/\\(.)/g, "$1");
}

async function candidates(
  shell: Shell,
  program: Program,
  before: readonly string[],
  current: string,
): Promise<Candidate[]> {
  const { command, rest, globals } = await place(program, before);
  const spec = await specOf(command);
  const flag = before.at(-1)?.startsWith("--") ? before.at(-1)!.slice(2) : undefined;
  if (flag === "where" && command.options.some(({ long }) => long === "--where"))
    return expressions(shell, current, globals);
  const values = flag === undefined ? undefined : await valuesOf(shell, spec, flag, globals);
  if (values !== undefined) return values;
  if (current.startsWith("-")) return flagsOf(command);
  const subcommands = command.commands.filter((one) => !(one as unknown as { _hidden: boolean })._hidden);
  if (subcommands.length > 0 && rest.length === 0)
    return [...subcommands.map((one) => [one.name(), one.summary()] as const), ...groupsWithin(command)];
  const param = spec?.params[rest.length];
  const ref = param === undefined ? undefined : spec?.refs[param];
  return (await liveRows(shell, globals, ref)) ?? [];
}

const groupsWithin = (command: Command): Candidate[] =>
  nounsWithin(command.name()).map(([word, noun]) => [word, nouns.find((one) => one.noun === noun)?.summary ?? ""]);

/** Names of rows that can be called by name; undefined for a kind that cannot. */
async function liveRows(shell: Shell, globals: Globals, ref: string | undefined): Promise<Candidate[] | undefined> {
  if (ref === "organization") return liveOrgs(await openContext(shell, globals));
  return ref === "site" ? liveSites(await openContext(shell, globals)) : undefined;
}

async function expressions(shell: Shell, typed: string, globals: Globals): Promise<Candidate[]> {
  const { whereCandidates } = await import("../../where/complete.ts");
  const kinds: Readonly<Record<string, string>> = { orgId: "organization", siteId: "site" };
  return whereCandidates(typed, async (field) => {
    if (field === "custom" || field === "groupId" || field === "tags")
      return liveWords(await openContext(shell, globals), field);
    return (await liveRows(shell, globals, kinds[field])) ?? [];
  });
}

const withValue = new Set(globalFlagList.filter(({ value }) => value !== "").map(({ flag }) => flag));

/** Walks down to the command that the words name; `rest` are its arguments so far. */
async function place(
  whole: Program,
  words: readonly string[],
): Promise<{ command: Command; rest: string[]; globals: Globals }> {
  const given: Record<string, unknown> = {};
  const plain: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (withValue.has(word)) given[attributeOf(word.slice(2))] = words[++index];
    else if (!word.startsWith("-")) plain.push(word);
  }
  const rest = [...withNounOfWords(plain)];
  const program = await whole.tree(rest[0]);
  let command = program;
  for (;;) {
    const next = command.commands.find((one) => one.name() === rest[0] || one.aliases().includes(rest[0] ?? ""));
    if (next === undefined) break;
    command = next;
    rest.shift();
  }
  const steering = ["server", "profile", "org", "tokenFile"].filter((name) => typeof given[name] === "string");
  return { command, rest, globals: readGlobals(Object.fromEntries(steering.map((name) => [name, given[name]])), {}) };
}

async function specOf(command: Command): Promise<CommandSpec | undefined> {
  const noun = command.parent?.name();
  if (noun === undefined) return undefined;
  return (await commandsOf(noun)).find((one) => one.name === command.name());
}

const flagsOf = (command: Command): Candidate[] => [
  ...command.options
    .filter(({ hidden, long }) => !hidden && long)
    .map(({ long, description }) => [long!, description] as const),
  ...globalFlagList
    .filter(({ name }) => takesFlag(command, name))
    .map(({ flag, description }) => [flag, description] as const),
];

const scopeFlags: Partial<Record<string, string>> = { org: "organization", site: "site" };

/** Undefined if the previous word is not a flag with a value. */
async function valuesOf(
  shell: Shell,
  spec: CommandSpec | undefined,
  flag: string,
  globals: Globals,
): Promise<Candidate[] | undefined> {
  const scope = await liveRows(shell, globals, scopeFlags[flag]);
  if (scope !== undefined) return scope;
  if (flag === "profile")
    return Object.entries((await readProfiles(shell)).profiles).map(([name, { server }]) => [name, server ?? ""]);
  if (flag === "columns") return (spec?.fields ?? []).map((name) => [name, ""]);
  const field = spec && fieldsOf(spec).find((one) => one.flag === flag);
  if (field) return (await liveRows(shell, globals, field.spec.ref)) ?? valuesOfField(field);
  return withValue.has(`--${flag}`) ? [] : undefined;
}

function valuesOfField({ spec }: Field): Candidate[] | undefined {
  if (spec.type === "boolean" || spec.secret) return undefined;
  return (spec.values ?? spec.itemValues ?? []).map((value) => [value, ""]);
}
