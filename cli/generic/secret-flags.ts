import type { Context } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import { cleanPassword, cleanToken, readSecretFile, readStdin } from "../profile/secret-text.ts";
import { attributeOf } from "./fields.ts";

type Options = Readonly<Record<string, unknown>>;

/**
 * Reads secrets from `--<name>-file` and `--<name>-stdin`. When several come from stdin each takes one line,
 * in the order of the command's flags.
 */
export async function readSecrets(
  context: Context,
  flags: readonly string[],
  options: Options,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const fromStdin: string[] = [];
  for (const flag of flags) {
    const path = options[attributeOf(`${flag}-file`)] as string | undefined;
    const stdin = options[attributeOf(`${flag}-stdin`)] === true;
    if (path !== undefined && stdin) throw usageError(`Use either --${flag}-file or --${flag}-stdin`);
    if (path !== undefined) {
      found.set(
        flag,
        clean(context, flag, await readSecretFile(context.shell, path, `--${flag}-file`), `--${flag}-file`),
      );
    } else if (stdin) fromStdin.push(flag);
  }
  if (fromStdin.length > 0 && context.globals.tokenStdin) {
    throw usageError(`--token-stdin and --${fromStdin[0]}-stdin cannot both read stdin`);
  }
  for (const [flag, text] of await linesOfStdin(context, fromStdin)) {
    found.set(flag, clean(context, flag, text, `--${flag}-stdin`));
  }
  return found;
}

async function linesOfStdin(context: Context, flags: readonly string[]): Promise<[string, string][]> {
  if (flags.length === 0) return [];
  const text = await readStdin(context.shell);
  if (flags.length === 1) return [[flags[0]!, text]];
  const lines = text.split(/\r?\n/);
  return flags.map((flag, index) => [flag, lines[index] ?? ""]);
}

/** A typed secret, cleaned like one from a file. */
export const cleanTyped = (context: Context, flag: string, text: string): string =>
  clean(context, flag, text, `--${flag}`);

/** A password may contain spaces. Tokens may not, and the space in a code like `123 456` is ignored. */
function clean({ shell }: Context, flag: string, text: string, source: string): string {
  if (flag.endsWith("password")) return cleanPassword(shell, text, source);
  if (flag === "link") return cleanToken(shell, tokenOfLink(text), source);
  return cleanToken(shell, flag === "code" ? text.replace(/(?<=\d) (?=\d)/g, "") : text, source);
}

/** A mailed link has the token in its fragment; either may be given. */
const tokenOfLink = (text: string): string =>
  /^https?:\/\/\S+#(?:\S*&)?token=([^&\s]+)\s*$/.exec(text.trimStart())?.[1] ?? text;
