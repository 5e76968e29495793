import { RE2JS } from "re2js";
import type { CodePoints } from "#contract/core/patterns/code-points";
import { parsePattern } from "#contract/core/patterns/parse-pattern";
import type { PatternTree } from "#contract/core/patterns/pattern-tree";

/** A pattern that is matched in time linear in the text (docs/filters.md, "Patterns"). */
export interface Pattern {
  /** Somewhere in the text. */
  finds(text: string): boolean;
  /** The text as a whole. */
  covers(text: string): boolean;
}

/** The pattern, or why it is refused. */
export function readPattern(source: string): Pattern | { readonly refused: string } {
  const tree = parsePattern(source);
  if ("refused" in tree) return tree;
  const compiled = RE2JS.compile(spelled(tree));
  return { finds: (text) => compiled.test(text), covers: (text) => compiled.testExact(text) };
}

/** The pattern in the spelling of the engine. */
function spelled(tree: PatternTree): string {
  switch (tree.kind) {
    case "one":
      return characters(tree.of);
    case "start":
      return "\\A";
    case "end":
      return "\\z";
    case "edge":
      return "\\b";
    case "noEdge":
      return "\\B";
    case "sequence":
      return `(?:${tree.parts.map(spelled).join("")})`;
    case "choice":
      return `(?:${tree.parts.map(spelled).join("|")})`;
    case "repeat":
      return repeated(tree);
  }
}

/** The engine refuses counts within counts whose product is above 1,000: these are written out. */
function repeated({ of, least, most }: PatternTree & { kind: "repeat" }): string {
  const text = `(?:${spelled(of)})`;
  if (!isCounted(of)) return `${text}{${least},${most ?? ""}}`;
  const rest = most === undefined ? `${text}*` : `${text}?`.repeat(most - least);
  return `(?:${text.repeat(least)}${rest})`;
}

function isCounted(tree: PatternTree): boolean {
  if (tree.kind === "repeat") return tree.least > 1 || (tree.most ?? 1) > 1 || isCounted(tree.of);
  return "parts" in tree && tree.parts.some(isCounted);
}

function characters(points: CodePoints): string {
  if (points.length === 0) return "[^\\x{0}-\\x{10ffff}]";
  return `[${points.map(([from, to]) => (from === to ? hex(from) : `${hex(from)}-${hex(to)}`)).join("")}]`;
}

const hex = (point: number): string => `\\x{${point.toString(16)}}`;
