/** Code points from one to another, both included. */
export type Range = readonly [from: number, to: number];

/** Characters as ranges in rising order that do not touch. A character outside the basic plane is one. */
export type CodePoints = readonly Range[];

const LAST = 0x10ffff;

export const only = (point: number): CodePoints => [[point, point]];

export function union(...sets: readonly CodePoints[]): CodePoints {
  const joined: [number, number][] = [];
  for (const [from, to] of sets.flat().toSorted((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

export function allBut(points: CodePoints): CodePoints {
  const left: Range[] = [];
  let next = 0;
  for (const [from, to] of points) {
    if (from > next) left.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= LAST) left.push([next, LAST]);
  return left;
}

const digits: CodePoints = [[0x30, 0x39]];
/** ASCII, as `\w` and `\b` have it. */
export const wordCharacters: CodePoints = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** White space and line ends of ECMAScript. */
const spaces: CodePoints = [
  [0x9, 0xd],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const lineEnds: CodePoints = [
  [0xa, 0xa],
  [0xd, 0xd],
  [0x2028, 0x2029],
];

/** What `.` stands for. */
export const anyInLine = allBut(lineEnds);

/** Classes by the letter behind the backslash. */
export const classes: Readonly<Record<string, CodePoints>> = {
  d: digits,
  D: allBut(digits),
  w: wordCharacters,
  W: allBut(wordCharacters),
  s: spaces,
  S: allBut(spaces),
};

/** Characters by the letter behind the backslash. */
export const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };
