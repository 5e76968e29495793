import type { CodePoints } from "#contract/core/patterns/code-points";
import { parsePattern } from "#contract/core/patterns/parse-pattern";
import type { PatternTree } from "#contract/core/patterns/pattern-tree";

/** Longer ones tell no more texts apart. */
const SIGNS_MAX = 60;

/**
 * What every text is like in which the pattern is found, for `like` with the backslash: `%` where nothing is known. A
 * pattern of a fixed length leaves little to the engine of patterns.
 */
export function patternAsLike(source: string): string {
  const tree = parsePattern(source);
  if ("refused" in tree) throw new Error(`the pattern ${tree.refused}`);
  const parts = [...signsOf({ kind: "sequence", parts: [tree] })];
  const [isFirst, isLast] = [parts[0] === START, parts.at(-1) === END];
  const signs = parts.filter((part) => part !== START && part !== END);
  const known = [
    ...(isFirst ? [] : [ANY]),
    ...signs.slice(0, SIGNS_MAX),
    ...(isLast && signs.length <= SIGNS_MAX ? [] : [ANY]),
  ];
  return known.filter((sign, at) => sign !== ANY || known[at - 1] !== ANY).join("");
}

/** Any text: a percent sign that means itself has a backslash before it. */
const ANY = "%";

/** Ends of the text, which say nothing in the middle of what is found. */
const START = "start";
const END = "end";

function* signsOf(tree: PatternTree): Generator<string> {
  switch (tree.kind) {
    case "one":
      return yield signOf(tree.of);
    case "start":
      return yield START;
    case "end":
      return yield END;
    case "edge":
    case "noEdge":
      return;
    case "sequence":
      for (const part of tree.parts) yield* signsOf(part);
      return;
    case "choice":
      return yield ANY;
    case "repeat":
      if (tree.of.kind !== "one") return yield ANY;
      for (let time = 0; time < Math.min(tree.least, SIGNS_MAX); time += 1) yield signOf(tree.of.of);
      if (tree.most !== tree.least || tree.least > SIGNS_MAX) yield ANY;
  }
}

/** The one character, or any; also for what no text has, which Postgres takes in no text. */
function signOf(points: CodePoints): string {
  const [range, ...others] = points;
  if (!range || others.length > 0 || range[0] !== range[1]) return "_";
  const sign = String.fromCodePoint(range[0]);
  return sign === "\0" || !sign.isWellFormed() ? "_" : sign.replace(/[\\%_]/, (found) => `\\${found}`);
}
