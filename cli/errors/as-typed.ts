import type { Command } from "commander";
import { attributeOf } from "../generic/fields.ts";
import { withNounOfWords, wordsOf } from "../globals.ts";
import { lineOf, reachedBy } from "../usage-errors.ts";
import type { Described } from "./describe-error.ts";

/** Codes that say what is wrong with the fields of a request. */
const ofRequests: ReadonlySet<string> = new Set(["VALIDATION_ERROR", "NO_UPDATES"]);

interface TypedLine {
  readonly argv: readonly string[];
  readonly forPrograms: boolean;
  readonly treeOf: TreeOf | undefined;
}

/** The command tree with one group loaded. */
export type TreeOf = (word: string | undefined) => Promise<Command>;

/**
 * The server's refusal of a request in the words of the command line: a command may be called by several names, and a flag
 * is seldom called as the field of the request that it fills. Programs get the fields.
 */
export async function asTyped(
  { exit, error }: Described,
  { argv, forPrograms, treeOf }: TypedLine,
): Promise<Described> {
  if (!ofRequests.has(error.code) || treeOf === undefined) return { exit, error };
  const words = wordsOf(withNounOfWords(argv));
  const command = reachedBy(await treeOf(words[0]), words);
  if (command.commands.length > 0) return { exit, error };
  const hint = error.hint?.replace(/`rmm [^`]* --help`/, `\`${lineOf(command, words)} --help\``);
  const fromFile = argv.some((one) => /^(-f|--file(=.*)?)$/.test(one));
  if (forPrograms || fromFile || !Array.isArray(error.details)) return { exit, error: { ...error, hint } };
  let { message } = error;
  const details = error.details.map((one: unknown) => {
    const { path, message: told } = (one ?? {}) as { path?: unknown; message?: unknown };
    const flag = typeof path === "string" && typeof told === "string" ? flagOf(command, path) : undefined;
    if (flag === undefined) return one;
    const said = String(told).replace(`${String(path)}:`, `${flag}:`);
    message = message.replace(String(told), () => said);
    return { ...(one as object), path: flag, message: said };
  });
  return { exit, error: { ...error, hint, message, details } };
}

/** `--from` of `dateRange.from`: by the whole path, else by its last part. */
function flagOf(command: Command, path: string): string | undefined {
  const names = path.split(".");
  const wanted = [names.map((name, at) => (at === 0 ? name : capital(name))).join(""), names.at(-1)!];
  const found = wanted.flatMap((name) => command.options.filter((one) => attributeOf(one.long!.slice(2)) === name));
  return found[0]?.long ?? undefined;
}

const capital = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1);
