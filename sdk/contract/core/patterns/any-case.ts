import { type CodePoints, type Range, union } from "./code-points.ts";

/** Characters that differ by case, beyond which there are none. */
const CASED_MAX = 0x1ffff;

let groups: ReadonlyMap<number, readonly number[]> | undefined;

/** With every character also those that are the same but for their case (simple case folding of Unicode). */
export function inAnyCase(points: CodePoints): CodePoints {
  groups ??= casedGroups();
  const more: Range[] = [];
  for (const [point, group] of groups)
    if (points.some(([from, to]) => from <= point && point <= to)) for (const other of group) more.push([other, other]);
  return more.length === 0 ? points : union(points, more);
}

/** Characters by each of those that they are the same as. Made once, when a pattern first asks for it. */
function casedGroups(): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (let point = 0; point <= CASED_MAX; point += 1) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const sign = String.fromCodePoint(point);
    for (const other of [sign.toLowerCase(), sign.toUpperCase()]) if (isSameButCase(sign, other)) join(point, other);
  }
  return found;

  function join(point: number, other: string): void {
    const next = other.codePointAt(0) as number;
    const group = [...new Set([...(found.get(point) ?? [point]), ...(found.get(next) ?? [next])])];
    for (const member of group) found.set(member, group);
  }
}

/** The regular expressions of the platform know the folding; a mapping to several characters is none. */
const isSameButCase = (sign: string, other: string): boolean =>
  other !== sign &&
  [...other].length === 1 &&
  new RegExp(`^\\u{${(sign.codePointAt(0) as number).toString(16)}}$`, "iu").test(other);
