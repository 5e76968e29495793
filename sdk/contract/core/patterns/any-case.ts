import { type CodePoints, only, type Range, union } from "./code-points.ts";
import { type PatternTree, sequence } from "./pattern-tree.ts";

/** Where characters stand that differ by case: to look through all others takes ten times as long. */
const cased: CodePoints = [
  [0x41, 0x2e00],
  [0xa600, 0xac00],
  [0xfb00, 0xfb18],
  [0xff20, 0xff60],
  [0x10400, 0x11900],
  [0x16e40, 0x16f00],
  [0x1e900, 0x1e950],
];

let groups: ReadonlyMap<number, readonly number[]> | undefined;

/** With every character also those that are the same but for their case (simple case folding of Unicode). */
export function inAnyCase(points: CodePoints): CodePoints {
  groups ??= casedGroups();
  const more: Range[] = [];
  for (const [point, group] of groups)
    if (points.some(([from, to]) => from <= point && point <= to)) for (const other of group) more.push([other, other]);
  return more.length === 0 ? points : union(points, more);
}

/** The text as it compares without case: of characters that are the same but for their case, always the same one. */
export function foldCase(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  let made = "";
  for (const sign of text) made += folded(sign.codePointAt(0) as number);
  return made;
}

const known = new Map<number, string>();

function folded(point: number): string {
  const found = known.get(point);
  if (found !== undefined) return found;
  groups ??= casedGroups();
  const group = groups.get(point) ?? [point];
  // A letter of ASCII as it is small, so that it compares with what databases make small.
  const made = String.fromCodePoint(Math.min(...group));
  const small = /[A-Z]/.test(made) ? made.toLowerCase() : made;
  known.set(point, small);
  return small;
}

/** Characters by each of those that they are the same as. Made once, when a pattern first asks for it. */
function casedGroups(): Map<number, number[]> {
  const found = new Map<number, number[]>();
  const byCapitals = new Map<string, string>();
  for (const [sign] of allSigns().matchAll(/\p{Changes_When_Casemapped}/gu)) {
    const point = sign.codePointAt(0) as number;
    const capitals = sign.toUpperCase();
    // Two that are the same may have no other between them but the same several capitals: \ufb05 and \ufb06.
    const twin = byCapitals.get(capitals) ?? sign;
    byCapitals.set(capitals, twin);
    for (const other of [sign.toLowerCase(), capitals, twin]) if (isSameButCase(sign, other)) join(point, other);
  }
  return found;

  function join(point: number, other: string): void {
    const next = other.codePointAt(0) as number;
    const group = [...new Set([...(found.get(point) ?? [point]), ...(found.get(next) ?? [next])])];
    for (const member of group) found.set(member, group);
  }
}

/** The regular expressions of the platform know the folding; a mapping to several characters is none. */
const isSameButCase = (sign: string, other: string): boolean => other !== sign && /^(.)\1$/iu.test(sign + other);

function allSigns(): string {
  const signs: string[] = [];
  for (const [from, to] of cased)
    for (let point = from; point <= to; point += 1) signs.push(String.fromCodePoint(point));
  return signs.join("");
}

/** A text of which case does not matter, as a pattern. */
export const textInAnyCase = (text: string): PatternTree =>
  sequence([...text].map((sign) => ({ kind: "one", of: inAnyCase(only(sign.codePointAt(0) as number)) })));
