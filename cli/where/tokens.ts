import { invisibleIn } from "#contract/core/characters";
import { type Span, shown, WhereFault } from "./fault.ts";

/** A word as it stands, a text in quotes without them, a mark such as `>=`, or the end of the expression. */
export interface Token extends Span {
  readonly kind: "word" | "text" | "mark" | "end";
  readonly text: string;
}

const blank = /\s+/y;
const mark = /==|!=|<>|>=|<=|[=<>()[\],]/y;
const word = /[^\s'"()[\],=<>!]+/y;
/** Word processors write these; nobody sees the difference. */
const foreignQuote = /[“”„‟‘’‚‛«»`´]/;

/** Counts what is looked at, so that a test can hold it to the length of the expression. */
export interface Effort {
  steps: number;
}

/** Cuts an expression into its tokens, each character once. */
export function tokensOf(source: string, effort: Effort = { steps: 0 }): Token[] {
  const tokens: Token[] = [];
  const taken = (pattern: RegExp, at: number): number => {
    pattern.lastIndex = at;
    return pattern.test(source) ? pattern.lastIndex : at;
  };
  let at = taken(blank, 0);
  while (at < source.length) {
    const token = nextToken(source, at, taken);
    effort.steps += token.end - at + 1;
    refuseGlued(source, tokens.at(-1), token);
    tokens.push(token);
    at = taken(blank, token.end);
  }
  return [...tokens, { kind: "end", text: "", start: source.length, end: source.length }];
}

function nextToken(source: string, start: number, taken: (pattern: RegExp, at: number) => number): Token {
  const quote = source[start];
  if (quote === "'") return literalText(source, start);
  if (quote === '"') return escapedText(source, start);
  const markEnd = taken(mark, start);
  if (markEnd > start) return { kind: "mark", text: source.slice(start, markEnd), start, end: markEnd };
  const end = taken(word, start);
  const text = source.slice(start, end);
  // Only an exclamation mark alone is neither.
  if (end === start) throw new WhereFault("! stands before = alone", { start, end: start + 1 }, notHint);
  const strange = foreignQuote.exec(text);
  if (strange === null) return seen({ kind: "word", text, start, end });
  const place = start + strange.index;
  throw new WhereFault(`${strange[0]} is no quote here`, { start: place, end: place + 1 }, `Write ' or "`);
}

export const notHint = "There is no NOT of a group: write !=, not contains, not in, is not null … in its conditions";

/** `O'Brien` and `'a'b` are a text that lacks its quotes, not two values. */
function refuseGlued(source: string, before: Token | undefined, token: Token): void {
  if (before === undefined || before.end !== token.start) return;
  const isValue = ({ kind }: Token) => kind === "text" || kind === "word";
  if (!isValue(before) || !isValue(token)) return;
  const whole = source.slice(before.start, token.end);
  throw new WhereFault(
    `A quote in the middle of ${shown(whole)}`,
    { start: token.start, end: token.start + 1 },
    `Put quotes around the whole value: "O'Brien", or 'O''Brien'`,
  );
}

const unended = (start: number, quote: string): WhereFault =>
  new WhereFault(
    `The text that begins here has no end`,
    { start, end: start + 1 },
    `It ends with ${quote === "'" ? "a single quote; two of them are one in it: ''" : 'a double quote; in it \\" is one'}`,
  );

/** Between single quotes everything is as it stands; two single quotes are one. */
function literalText(source: string, start: number): Token {
  for (let at = start + 1; ; at += 2) {
    at = source.indexOf("'", at);
    if (at === -1) throw unended(start, "'");
    if (source[at + 1] === "'") continue;
    const text = source.slice(start + 1, at).replaceAll("''", "'");
    return seen({ kind: "text", text, start, end: at + 1 });
  }
}

/** What nobody sees would match nothing, and nobody would see why. */
function seen(token: Token): Token {
  const hidden = /^[\x20-\x7e]*$/.test(token.text) ? undefined : invisibleIn(token.text);
  if (hidden === undefined) return token;
  throw new WhereFault(
    `${hidden}, a character that nobody sees, is in this value`,
    token,
    `Where it is meant write it between double quotes: "\\u${hidden.slice(2).toLowerCase()}"`,
  );
}

const escapes: Readonly<Record<string, string>> = {
  ...{ n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" },
  ...{ "\\": "\\", '"': '"', "'": "'", "/": "/" },
};
const special = /["\\]/g;
const code = /u([0-9a-fA-F]{4})/y;

/** Between double quotes escapes are those of JSON. */
function escapedText(source: string, start: number): Token {
  let text = "";
  let at = start + 1;
  for (;;) {
    special.lastIndex = at;
    const found = special.exec(source);
    if (found === null) throw unended(start, '"');
    text += seen({ kind: "text", text: source.slice(at, found.index), start, end: found.index }).text;
    if (found[0] === '"') return { kind: "text", text, start, end: found.index + 1 };
    const [char, length] = escapeAt(source, found.index);
    text += char;
    at = found.index + length;
  }
}

/** The character that an escape stands for, and how long the escape is. */
function escapeAt(source: string, start: number): [char: string, length: number] {
  code.lastIndex = start + 1;
  const number = code.exec(source)?.[1];
  if (number !== undefined) return [String.fromCharCode(Number.parseInt(number, 16)), 6];
  const letter = source[start + 1] ?? "";
  const char = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
  if (char !== undefined) return [char, 2];
  throw new WhereFault(
    `\\${letter} is no escape`,
    { start, end: Math.min(start + 2, source.length) },
    "Between single quotes a backslash is a backslash: '^srv-\\d+$'; between double quotes write \\\\",
  );
}
