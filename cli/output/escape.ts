import { controlCharacters, escapeControls } from "#contract/core/characters";

/** A value on one line: names, paths and messages come from untrusted machines and files. */
export { escapeControls };

/** A field of tab-separated output: tabs, line ends and backslashes are written as escapes. */
export const escapeTsv = (text: string): string => escapeControls(text.replaceAll("\\", "\\\\"));

/** Drawn at the first use: WebCrypto costs a start 10 ms. */
let drawn: { number: number; sequences: RegExp } | undefined;
function marks() {
  if (drawn !== undefined) return drawn;
  const number = crypto.getRandomValues(new Uint32Array(1))[0]!;
  const sequences = new RegExp(`(\\u001b\\[\\d+);${number}([mG])|(?![\\n\\t])[${controlCharacters}]`, "g");
  drawn = { number, sequences };
  return drawn;
}

/** A terminal sequence of this program, marked with a random number so that `printable` recognises it. */
export const ownSequence = (code: number, end: "m" | "G"): string => `\u001b[${code};${marks().number}${end}`;

/** Nothing in it needs an escape. */
const isPlain = (text: string): boolean => /^[\n\t\x20-\x7e]*$/.test(text) && !/::|##/.test(text);

/**
 * Text as it may be written to a terminal, a pipe or the log of a pipeline: control characters as escapes, but for line
 * ends, tabs and the program's own colours. Nor does it hold what GitHub (`::name::` at the start of a line, `##[`) and
 * Azure (`##vso[`) obey in a log: the first character is written as an escape, which in JSON means the same.
 */
export const printable = (text: string): string => (isPlain(text) ? text : escaped(text));

const escaped = (text: string): string =>
  text
    .replace(marks().sequences, (found, start?: string, end?: string) =>
      start ? `${start}${end}` : escapeControls(found),
    )
    .replace(/^([^\S\n]*):(?=:[^\n]*::)/gm, "$1\\u003a")
    .replace(/#(?=#\w*\[)/g, "\\u0023");
