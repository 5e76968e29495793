import type { FilterCondition, FilterGroup } from "#contract/core/filters/condition";
import { filterCaps } from "#contract/core/filters/condition";
import { didYouMean } from "#contract/core/suggest";
import { conditionAt } from "./condition.ts";
import { type Cursor, cursorOf, isWord, type Place, takeMark, takeWord } from "./cursor.ts";
import { type Span, shown, WhereFault } from "./fault.ts";
import { type Effort, notHint, type Token } from "./tokens.ts";

type Part = FilterGroup | FilterCondition;

/** An expression, read. */
export interface Where {
  readonly source: string;
  /** Where it was given, as messages name it; `--where` unless it says something else. */
  readonly name?: string;
  readonly filter: FilterGroup;
  /** Where each group and condition stands, and the values of a condition. */
  readonly places: ReadonlyMap<object, Place>;
}

/** Reads an expression (cli/where/README.md, "Grammar"). Throws a `WhereFault` that points at what is wrong. */
export function parseWhere(source: string, effort?: Effort): Where {
  const cursor = cursorOf(source, effort);
  if (cursor.next().kind === "end")
    throw new WhereFault("The expression is empty", cursor.next(), "Write a condition: status = offline");
  const part = alternatives(cursor, 0);
  if (cursor.next().kind !== "end") throw notTheEnd(cursor);
  const filter = isGroup(part) ? part : group(cursor, "AND", [part]);
  refuseDeep(cursor, filter);
  return { source, filter, places: cursor.places };
}

export const isGroup = (part: Part): part is FilterGroup => "conditions" in part;

/** `or` binds loosest. */
function alternatives(cursor: Cursor, parentheses: number): Part {
  const parts = [all(cursor, parentheses)];
  while (takeWord(cursor, "or")) parts.push(all(cursor, parentheses));
  return parts.length === 1 ? parts[0]! : group(cursor, "OR", parts);
}

function all(cursor: Cursor, parentheses: number): Part {
  const parts = [term(cursor, parentheses)];
  while (takeWord(cursor, "and")) parts.push(term(cursor, parentheses));
  return parts.length === 1 ? parts[0]! : group(cursor, "AND", parts);
}

/** Parentheses around one thing change nothing; with a word in front they make a group of it. */
function term(cursor: Cursor, parentheses: number): Part {
  const open = cursor.next();
  if (!takeMark(cursor, "(")) return conditionAt(cursor, refuseNot(open));
  if (parentheses >= filterCaps.depth) throw tooDeep(open);
  const word = (["and", "or"] as const).find((one) => takeWord(cursor, one));
  const part = word === undefined ? alternatives(cursor, parentheses + 1) : term(cursor, parentheses + 1);
  if (!takeMark(cursor, ")")) throw notClosed(cursor, open, word);
  if (word === undefined) return part;
  const made = group(cursor, word === "and" ? "AND" : "OR", [part]);
  cursor.places.set(made, { start: open.start, end: cursor.next().start, values: [] });
  return made;
}

function group({ places }: Cursor, operator: FilterGroup["operator"], conditions: Part[]): FilterGroup {
  const made: FilterGroup = { operator, conditions };
  const [first, last] = [places.get(conditions[0]!)!, places.get(conditions.at(-1)!)!];
  places.set(made, { start: first.start, end: last.end, values: [] });
  return made;
}

function refuseNot(token: Token): Token {
  if (!isWord(token, "not")) return token;
  throw new WhereFault("A condition begins with a field, not with not", token, notHint);
}

const tooDeep = (at: Span): WhereFault =>
  new WhereFault(`Groups stand in each other more than ${filterCaps.depth} deep`, at);

/** `and` binds tighter than `or`, so a group can be in another one without parentheses. */
function refuseDeep({ places }: Cursor, root: FilterGroup): void {
  const visit = (part: Part, depth: number): void => {
    if (!isGroup(part)) return;
    if (depth > filterCaps.depth) throw tooDeep(places.get(part)!);
    for (const one of part.conditions) visit(one, depth + 1);
  };
  visit(root, 1);
}

function notClosed(cursor: Cursor, open: Token, word: string | undefined): WhereFault {
  const next = cursor.next();
  if (next.kind === "end") return new WhereFault("This parenthesis is not closed", open, "It lacks a )");
  if (word !== undefined && (isWord(next, "and") || isWord(next, "or")))
    return new WhereFault(`(${word} …) holds one condition, or one group in parentheses`, next);
  return notTheEnd(cursor);
}

const joining: Readonly<Record<string, string>> = { "&&": "and", "&": "and", "||": "or", "|": "or", ",": "and" };

/** After a condition there is something else than `and`, `or` or `)`. */
function notTheEnd(cursor: Cursor): WhereFault {
  const next = cursor.next();
  const meant = Object.hasOwn(joining, next.text) && next.kind !== "text" ? joining[next.text] : undefined;
  if (meant !== undefined) return new WhereFault(`${next.text} joins nothing here`, next, `Write ${meant}`);
  if (isWord(next, "xor") || isWord(next, "not"))
    return new WhereFault(`Here stands and, or, or the end, and no ${next.text}`, next, notHint);
  if (next.kind === "mark")
    return next.text === ")"
      ? new WhereFault("This parenthesis was not opened", next)
      : new WhereFault(`${next.text} is not expected here: and, or, or the end`, next);
  const word = next.kind === "word" && cursor.next(1).kind === "word" ? next.text.slice(0, 60) : "";
  const meantJoin = word === "" ? "" : didYouMean(word, ["and", "or"]);
  if (meantJoin !== "") return new WhereFault(`Here stands and, or, or the end${meantJoin}`, next);
  const before = cursor.before();
  const whole = before === undefined ? next.text : `${before.text} ${next.text}`;
  const hint = `A value with blanks stands in quotes: '${shown(whole)}'`;
  return new WhereFault("Here stands and, or, or the end", next, before?.kind === "mark" ? undefined : hint);
}
