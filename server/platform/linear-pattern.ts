import { RE2JS } from "re2js";
import { Refused, translate } from "./pattern-dialect.ts";

/** A pattern that is matched in time linear in the text (docs/fleet.md, "Patterns"). */
export interface Pattern {
  /** Somewhere in the text. */
  finds(text: string): boolean;
  /** The text as a whole. */
  covers(text: string): boolean;
}

/** The pattern, or why it is refused. */
export function readPattern(source: string): Pattern | { readonly refused: string } {
  try {
    const compiled = RE2JS.compile(translate(source));
    return { finds: (text) => compiled.test(text), covers: (text) => compiled.testExact(text) };
  } catch (error) {
    if (error instanceof Refused) return { refused: error.message };
    return { refused: "is not a pattern" };
  }
}
