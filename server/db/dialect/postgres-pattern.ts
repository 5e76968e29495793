import { textInAnyCase } from "#contract/core/patterns/any-case";
import { type CodePoints, type Range, wordCharacters } from "#contract/core/patterns/code-points";
import { parsePattern } from "#contract/core/patterns/parse-pattern";
import type { PatternTree } from "#contract/core/patterns/pattern-tree";

/**
 * A pattern of the dialect (docs/filters.md, "Patterns") in the spelling of Postgres, whose engine builds an automaton:
 * without backreferences its time is linear in the text, and a hundred thousand names take a tenth of what carrying them
 * to this process would cost alone (measured). Every set of characters is spelled in full, so that neither its own
 * classes nor the locale say what is meant.
 */
export function postgresPattern(source: string): string {
  const tree = parsePattern(source);
  if ("refused" in tree) throw new Error(`the pattern ${tree.refused}`);
  return spelled(tree);
}

/** A text literally and in any case; `start` and `end` say whether it stands there. */
export function postgresText(text: string, { start, end }: { start: boolean; end: boolean }): string {
  return `${start ? "\\A" : ""}${spelled(textInAnyCase(text))}${end ? "\\Z" : ""}`;
}

function spelled(tree: PatternTree): string {
  switch (tree.kind) {
    case "one":
      return set(tree.of);
    case "start":
      return "\\A";
    case "end":
      return "\\Z";
    case "edge":
      return `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`;
    case "noEdge":
      return `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word}))`;
    case "sequence":
      return `(?:${tree.parts.map(spelled).join("")})`;
    case "choice":
      return `(?:${tree.parts.map(spelled).join("|")})`;
    case "repeat":
      return `(?:${spelled(tree.of)}){${tree.least},${tree.most ?? ""}}`;
  }
}

/** Texts of Postgres have no U+0000, and no half of a character. */
const storable: CodePoints = [
  [0x1, 0xd7ff],
  [0xe000, 0x10ffff],
];

function set(points: CodePoints): string {
  const ranges = points.flatMap(([from, to]) =>
    storable.flatMap(([first, last]): Range[] =>
      from <= last && to >= first ? [[Math.max(from, first), Math.min(to, last)]] : [],
    ),
  );
  // No character at all.
  if (ranges.length === 0) return "(?!)";
  return `[${ranges.map(([from, to]) => (from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`)).join("")}]`;
}

const escaped = (point: number): string =>
  point > 0xffff ? `\\U${point.toString(16).padStart(8, "0")}` : `\\u${point.toString(16).padStart(4, "0")}`;

const word = set(wordCharacters);
