/** White space as ECMAScript has it; the engine's own `\s` is ASCII. */
const SPACE = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const NOT_SPACE =
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}" +
  "\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
/** Classes by their letter, as ranges. */
export const classes: Readonly<Record<string, string>> = {
  d: "0-9",
  D: "\\x{0}-/:-\\x{10ffff}",
  w: "0-9A-Z_a-z",
  W: "\\x{0}-/:-@\\[-\\^`\\{-\\x{10ffff}",
  s: SPACE,
  S: NOT_SPACE,
};

export const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };

export const hex = (point: number): string => `\\x{${point.toString(16)}}`;
export const literal = (sign: string): string =>
  /^[A-Za-z0-9]$/.test(sign) ? sign : hex(sign.codePointAt(0) as number);
