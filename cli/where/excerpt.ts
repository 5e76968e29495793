import stringWidth from "string-width";
import { type CliError, usageError } from "../errors/cli-error.ts";
import { escapeControls } from "../output/escape.ts";
import type { Shell } from "../shell.ts";
import type { Span, WhereFault } from "./fault.ts";
import { WHERE } from "./option.ts";
import type { Where } from "./parse.ts";

const CUT = "…";

/** What is drawn, and how many columns it takes. */
interface Drawn {
  readonly text: string;
  readonly width: number;
}

/**
 * The line of the source in which something is wrong, and carets below it. Both fit the width: what does not is cut on
 * the side that is further away. Wide characters have two carets, control characters stand as escapes.
 */
export function excerptOf(source: string, at: Span, width: number): [line: string, carets: string] {
  const start = source.lastIndexOf("\n", at.start - 1) + 1;
  const lineEnd = source.indexOf("\n", at.start);
  const end = lineEnd === -1 ? source.length : lineEnd;
  const stop = Math.max(at.start, Math.min(at.end, end));
  // No character is narrower than nothing, but few are: what is far away is not looked at.
  const reach = width * 4;
  const wrong = fitting(source.slice(at.start, Math.min(stop, at.start + reach)), Math.floor(width / 2), "end");
  const after = source.slice(stop, Math.min(end, stop + reach));
  const before = source.slice(Math.max(start, at.start - reach), at.start);
  const rest = Math.max(0, width - Math.max(1, wrong.width));
  const wanted = drawn(after).width;
  const left = fitting(before, rest - Math.min(wanted, Math.floor(rest / 2)), "start");
  const right = fitting(after, rest - left.width, "end");
  const carets = " ".repeat(left.width) + "^".repeat(Math.max(1, wrong.width));
  return [`${left.text}${wrong.text}${right.text}`.trimEnd(), carets];
}

/** As much of the text as there is room for, from its start or from its end. */
function fitting(text: string, room: number, cutAt: "start" | "end"): Drawn {
  const whole = drawn(text);
  if (whole.width <= room) return whole;
  if (room < 1) return { text: "", width: 0 };
  const pieces = piecesOf(text);
  if (cutAt === "start") pieces.reverse();
  const kept: string[] = [];
  let used = 1;
  for (const piece of pieces) {
    const next = stringWidth(piece);
    if (used + next > room) break;
    used += next;
    kept.push(piece);
  }
  if (cutAt === "start") kept.reverse();
  const joined = kept.join("");
  return { text: cutAt === "start" ? CUT + joined : joined + CUT, width: used };
}

function drawn(text: string): Drawn {
  const pieces = piecesOf(text);
  return { text: pieces.join(""), width: pieces.reduce((sum, piece) => sum + stringWidth(piece), 0) };
}

/** What a person takes for one character each, with escapes for what moves a terminal. */
const piecesOf = (text: string): string[] =>
  [...new Intl.Segmenter("en").segment(text)].map(({ segment }) => escapeControls(segment));

const WIDTH = 80;
/** Details are printed with an indent. */
const INDENT = 2;

/** The same on this terminal; a log has 80 columns. */
export function excerptFor({ isTty, columns }: Pick<Shell, "isTty" | "columns">, source: string, at: Span) {
  return excerptOf(source, at, Math.max(20, isTty.stderr ? columns - INDENT : WIDTH - INDENT));
}

/** `--where`, or the place of a file with the character there: of lists no line with carets is shown. */
export const placeText = ({ name = WHERE }: Pick<Where, "name">, { start }: Span): string =>
  name === WHERE ? name : `${name}, character ${start + 1}`;

/** The error of an expression that is wrong: exit 2. */
export function whereError(shell: Shell, fault: WhereFault, where: Pick<Where, "source" | "name">): CliError {
  const { message, hint, at } = fault;
  const path = placeText(where, at);
  return usageError(`${path}: ${message}`, hint, [
    { path, message, ...at, excerpt: excerptFor(shell, where.source, at) },
  ]);
}
