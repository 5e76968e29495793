import stringWidth from "string-width";
import type { Shell } from "../shell.ts";

/** Blanks and a word; a command between backticks is one. */
const wordPattern = /(\s*)((?:`[^`]*`|\S)+)/g;

/**
 * A line broken at blanks where it would be longer than this; what follows stands `hang` columns in. A command between
 * backticks stays on one line, so that it can be copied, and so does any word, however long.
 */
export function wrapWords(line: string, width: number, hang: number): string {
  if (stringWidth(line) <= width) return line;
  const lines: string[] = [];
  let at = "";
  for (const [, blanks = "", word = ""] of line.matchAll(wordPattern)) {
    if (at.trim() !== "" && stringWidth(at + blanks + word) > width) {
      lines.push(at);
      at = " ".repeat(hang) + word;
    } else at += blanks + word;
  }
  return [...lines, at].join("\n");
}

/**
 * The lines of a cell that is this wide. A word that is wider than the cell goes on in the next line, where it can after
 * a mark: paths, addresses, names with hyphens, lists with commas.
 */
export function cellLines(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let at = "";
  for (const [whole, , word = ""] of text.matchAll(wordPattern)) {
    if (stringWidth(at + whole) <= width) at += whole;
    else {
      const parts = chopped(word, width);
      lines.push(...(at === "" ? [] : [at]), ...parts.slice(0, -1));
      at = parts.at(-1)!;
    }
  }
  return [...lines, at];
}

function chopped(word: string, width: number): string[] {
  const lines: string[] = [];
  let at = "";
  for (const char of word) {
    if (stringWidth(at + char) > width && at !== "") {
      const kept = endOfPart(at);
      lines.push(at.slice(0, kept).trimEnd());
      at = at.slice(kept);
    }
    at += char;
  }
  return [...lines, at];
}

/** An entry of a list stays on one line where it can; marks that would leave a line half empty are passed over. */
function endOfPart(text: string): number {
  const after = (marks: string) => Math.max(...[...marks].map((mark) => text.lastIndexOf(mark))) + 1;
  const ends = [after(","), after(" "), after("-/_@:.")];
  return ends.find((end) => end > text.length / 3) ?? text.length;
}

/** As much as there is room for, with a mark where there is more. */
export function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = "";
  for (const char of text) {
    if (stringWidth(`${kept}${char}…`) > width) break;
    kept += char;
  }
  return `${kept}…`;
}

/** For people only: what a program reads has one line for each message. */
export const fitted = (shell: Pick<Shell, "isTty" | "columns">, line: string, hang = line.search(/\S|$/)): string =>
  shell.isTty.stderr ? wrapWords(line, shell.columns, hang) : line;

/** Terms and what they mean, side by side; a term that is too long has a line of its own. */
export function termsText(rows: readonly (readonly [term: string, meaning: string])[], width: number): string {
  const room = Math.max(...rows.map(([term]) => term.length).filter((length) => length <= LONG_TERM));
  return rows
    .flatMap(([term, meaning]) =>
      term.length > room
        ? [term, wrapWords(" ".repeat(room + 2) + meaning, width, room + 2)]
        : [wrapWords(`${term.padEnd(room)}  ${meaning}`, width, room + 2)],
    )
    .map((line) => `${line}\n`)
    .join("");
}

const LONG_TERM = 28;
