import type { FilterCondition, FilterGroup } from "#contract/core/filters/condition";
import type { Span } from "./fault.ts";
import { type Effort, type Token, tokensOf } from "./tokens.ts";

/** Where a group or condition stands. */
export interface Place extends Span {
  /** Of a condition: its operator. */
  readonly operator?: Span;
  /** Of a condition: the tokens of its values. */
  readonly values: readonly Token[];
}

/** The tokens of an expression, and how far it was read. */
export interface Cursor {
  /** The one after that `ahead` others; the last one is the end. */
  next(ahead?: number): Token;
  /** The one that was taken last. */
  before(): Token | undefined;
  take(count?: number): Token;
  readonly places: Map<FilterGroup | FilterCondition, Place>;
  /** What caps of a whole filter count. */
  readonly counts: { conditions: number; listValues: number };
}

export function cursorOf(source: string, effort: Effort = { steps: 0 }): Cursor {
  const tokens = tokensOf(source, effort);
  let at = 0;
  const next = (ahead = 0): Token => {
    effort.steps += 1;
    return tokens[Math.min(at + ahead, tokens.length - 1)]!;
  };
  return {
    next,
    before: () => tokens[at - 1],
    take: (count = 1) => {
      const token = next();
      at = Math.min(at + count, tokens.length - 1);
      return token;
    },
    places: new Map(),
    counts: { conditions: 0, listValues: 0 },
  };
}

export const isWord = ({ kind, text }: Token, word: string): boolean => kind === "word" && text.toLowerCase() === word;

export const isMark = ({ kind, text }: Token, mark: string): boolean => kind === "mark" && text === mark;

export function takeWord(cursor: Cursor, word: string): boolean {
  const is = isWord(cursor.next(), word);
  if (is) cursor.take();
  return is;
}

export function takeMark(cursor: Cursor, mark: string): boolean {
  const is = isMark(cursor.next(), mark);
  if (is) cursor.take();
  return is;
}
