import stringWidth from "string-width";
import type { Shell } from "../shell.ts";

/**
 * A line broken at blanks where it would be longer than this; what follows stands `hang` columns in. A command between
 * backticks stays on one line, so that it can be copied, and so does any word, however long.
 */
export function wrapWords(line: string, width: number, hang: number): string {
  if (stringWidth(line) <= width) return line;
  const lines: string[] = [];
  let at = "";
  for (const [, blanks = "", word = ""] of line.matchAll(/(\s*)((?:`[^`]*`|\S)+)/g)) {
    if (at.trim() !== "" && stringWidth(at + blanks + word) > width) {
      lines.push(at);
      at = " ".repeat(hang) + word;
    } else at += blanks + word;
  }
  return [...lines, at].join("\n");
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
