import { Command, CommanderError } from "commander";
import { areas } from "#contract/areas";
import { commandGroups, extensions } from "./commands/index.ts";
import { usageError } from "./errors/cli-error.ts";
import { givenIn } from "./errors/commands-to-type.ts";
import { exitCode } from "./errors/exit-codes.ts";
import { nouns } from "./generated/nouns.ts";
import {
  addGlobalFlags,
  globalFlagList,
  normalizeArgv,
  readGlobals,
  wantsJson,
  withNounOfWords,
  wordsOf,
} from "./globals.ts";
import type { NounSpec } from "./manifest.ts";
import { namesHelp } from "./names-help.ts";
import { nounAliases } from "./noun-aliases.ts";
import { wrappedExamples } from "./output/examples.ts";
import { wrapWords } from "./output/wrap.ts";
import type { Program, Run } from "./register.ts";
import { type Shell, writeTo } from "./shell.ts";
import { callsServer, refuseForeignFlags, takesFlag } from "./taken-flags.ts";
import { helpOf, lineOf, nameOf, reachedBy, unknownCommandIn, usageErrorOf } from "./usage-errors.ts";
import { version } from "./version.ts";

/** Parses the command line and runs the command. Returns its exit code; throws what went wrong. */
export async function runProgram(shell: Shell, argv: readonly string[]): Promise<number> {
  const written: { stdout: string; stderr: string } = { stdout: "", stderr: "" };
  const args = withNounOfWords(normalizeArgv(argv));
  let code = 0;
  let called: Command | undefined;
  const words = wordsOf(args);
  const program = newProgram(written, words.length === 0).hook("preAction", (_program, command) => {
    called = command;
    refuseForeignFlags(program, command, words);
  });
  const run: Run = async (work) => {
    const globals = readGlobals(program.opts(), givenIn(args, words), argv);
    if (called !== undefined) globals.line = lineOf(called, words).replace(/^rmm /, "");
    globals.calls = called !== undefined && callsServer(called);
    const { timeoutMs } = globals;
    if (timeoutMs !== undefined) limitNameServers(timeoutMs);
    code = await work(timeoutMs === undefined ? shell : { ...shell, patienceMs: timeoutMs }, globals);
  };
  await addGroups(program, { called: words, alone: true }, run);
  try {
    await program.parseAsync(args.length === 0 ? ["--help"] : args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return endOfParsing(shell, error, written, { argv, program });
  }
  return code;
}

/** A DNS look-up of the system cannot be cancelled and keeps the process alive, so it gets a timeout. */
function limitNameServers(timeoutMs: number): void {
  process.env["RES_OPTIONS"] ??= `timeout:${Math.max(1, Math.floor(timeoutMs / 2_000))} attempts:1`;
}

/** The whole command tree with one group loaded, for inspection. */
export async function programFor(word: string | undefined): Promise<Command> {
  const program = newProgram({ stdout: "", stderr: "" }, word === undefined);
  await addGroups(program, { called: word === undefined ? [] : [word], alone: false }, async () => undefined);
  return program;
}

/** `--version` is the program's where no command is called: the parser would take it from a command that has its own. */
function newProgram(written: { stdout: string; stderr: string }, hasVersion: boolean): Command {
  const program = new Command("rmm");
  if (hasVersion) program.version(version, "-V, --version");
  program
    .description("Manage partners, organizations, devices and credentials from the terminal")
    .usage("<group> <command> [flags]")
    .helpCommand(false)
    .exitOverride()
    .showSuggestionAfterError()
    .configureHelp({ subcommandTerm: nameOf, commandUsage: usageOf, minWidthToWrap: 20 })
    .configureOutput({
      writeOut: (text) => {
        written.stdout += text;
      },
      writeErr: (text) => {
        written.stderr += text;
      },
      outputError: () => undefined,
    });
  addGlobalFlags(program);
  program.addHelpText("afterAll", ({ command }) => (command === program ? "" : globalFlagLine(command)));
  program.addHelpText("before", rootExamples);
  program.addHelpText(
    "after",
    "\nHelp on one command: rmm <group> <command> --help\nExit codes: rmm help exit-codes\nManual: man rmm where npm installed it, man ./dist/man/rmm.1 in the source tree",
  );
  return program;
}

const usageOf = (command: Command): string => {
  const [alias] = command.aliases();
  const also = alias === undefined || lineOf(command).endsWith(` ${alias}`) ? "" : `|${alias}`;
  return `${lineOf(command)}${also} ${command.usage()}`;
};

/** Their names alone: what they do is not the business of each command. A group shows those that its commands take. */
function globalFlagLine(command: Command): string {
  const flags = globalFlagList.filter(({ name }) => leavesOf(command).some((leaf) => takesFlag(leaf, name)));
  const line = `Global flags (rmm help flags explains them): ${flags.map(({ flag }) => flag).join(" ")}`;
  return `\n${wrapWords(line, command.configureOutput().getOutHelpWidth?.() ?? 80, 2)}`;
}

const leavesOf = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);

const rootExamples = `Examples:
  rmm auth login --server https://rmm.example
  rmm organizations list
  rmm devices list --org contoso-dental --status offline
  rmm enrollment-keys create --org contoso-dental --name hq-rollout --max-usage 25
`;

const wholeProgram: Program = { tree: programFor, run: runProgram };

interface Wanted {
  /** Words of the command line: a group, a command of it. */
  readonly called: readonly string[];
  /** Leaves out the other groups, and the flags of the other commands of a noun, for speed. */
  readonly alone: boolean;
}

/** Adds every group under its heading, first those of no area, and loads the one that is called. */
async function addGroups(program: Command, { called: [word, verb], alone }: Wanted, run: Run): Promise<void> {
  const called = word === undefined ? undefined : (nounAliases[word] ?? word);
  const exists = Object.hasOwn(commandGroups, called ?? "") || nouns.some(({ noun }) => noun === called);
  const isWanted = (name: string) => !alone || !exists || name === called;
  program.commandsGroup("Commands:");
  await addWritten(program, undefined, isWanted, called, run);
  for (const [area, heading] of Object.entries(areas)) {
    program.commandsGroup(`${heading}:`);
    await addWritten(program, area, isWanted, called, run);
    for (const spec of nouns)
      if (spec.area === area && isWanted(spec.noun))
        await addNounOf(program, spec, called, alone ? verb : undefined, run);
  }
}

/** Adds the hand-written groups of an area, or those of none. */
async function addWritten(
  program: Command,
  area: string | undefined,
  isWanted: (name: string) => boolean,
  called: string | undefined,
  run: Run,
) {
  for (const [name, { summary, load, hidden, area: own }] of Object.entries(commandGroups)) {
    if (own !== area || !isWanted(name)) continue;
    const group = program
      .command(name, { hidden: hidden ?? false })
      .summary(summary)
      .description(summary);
    if (name === called) await (await load())(group, run, wholeProgram);
  }
}

async function addNounOf(
  program: Command,
  { noun, summary }: NounSpec,
  called: string | undefined,
  verb: string | undefined,
  run: Run,
) {
  if (Object.hasOwn(commandGroups, noun)) return;
  const group = program.command(noun).summary(summary).description(summary);
  group.usage("<command> [flags]").helpCommand(false);
  const alias = Object.entries(nounAliases).find(([, target]) => target === noun)?.[0];
  if (alias !== undefined) group.alias(alias);
  if (noun !== called) return;
  const { addNoun } = await import("./generic/noun-group.ts");
  await addNoun(group, noun, run, verb);
  const extend = extensions[noun];
  if (extend) await (await extend())(group, run, { ...wholeProgram, called: verb });
  group.addHelpText("after", namesHelp(noun));
}

/** Of examples, on every terminal. */
const HELP_WIDTH = 80;

/** Between the parts of a help page, whether or not a part ends with a blank line of its own. */
const oneBlankLine = (text: string): string => `${text.replace(/\n{3,}/g, "\n\n").trimEnd()}\n`;

/** Help and version are not errors; everything else is a usage error. */
async function endOfParsing(
  shell: Shell,
  error: CommanderError,
  { stdout, stderr }: { stdout: string; stderr: string },
  { argv, program }: { argv: readonly string[]; program: Command },
): Promise<number> {
  const [json, words] = [wantsJson(argv), wordsOf(withNounOfWords(argv))];
  if (error.exitCode === 0) {
    const unknown = error.code === "commander.helpDisplayed" ? unknownCommandIn(program, words) : undefined;
    if (unknown !== undefined) throw usageErrorOf(unknown, { program, words, json });
    await writeTo(shell, "stdout", wrappedExamples(oneBlankLine(stdout), HELP_WIDTH));
    return 0;
  }
  if (error.code === "commander.help") {
    if (json) throw usageError("A command is missing", helpOf(reachedBy(program, words), words));
    await writeTo(shell, "stderr", stderr);
    return exitCode("usage");
  }
  throw usageErrorOf(error, { program, words, json });
}
