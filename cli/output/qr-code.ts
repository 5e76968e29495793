import { ownSequence } from "./escape.ts";

/** White modules around the code: at least this many, below it one fewer where that saves a line. */
const QUIET = 2;

/** A QR code for a terminal, two modules a character; nothing where it is wider than the terminal. */
export async function qrLines(text: string, columns: number): Promise<string[]> {
  const { create } = await import("qrcode");
  // A screen has no dirt and no creases: the least correction makes the smallest picture.
  const { modules } = create(withoutDefaults(text), { errorCorrectionLevel: "L" });
  const { size } = modules;
  if (size + 2 * QUIET > columns) return [];
  const isDark = (x: number, y: number) => x >= 0 && y >= 0 && x < size && y < size && modules.get(y, x) !== 0;
  const lines: string[] = [];
  for (let y = -QUIET; y <= size; y += 2) {
    let line = "";
    for (let x = -QUIET; x < size + QUIET; x++) line += blocks[isDark(x, y) ? 1 : 0]![isDark(x, y + 1) ? 1 : 0];
    lines.push(onWhite(line));
  }
  return lines;
}

/** By the upper module and the lower one. */
const blocks = [
  [" ", "▄"],
  ["▀", "█"],
] as const;

/** Always black on white: phones cannot scan inverted codes. */
const onWhite = (line: string): string =>
  `${ownSequence(30, "m")}${ownSequence(107, "m")}${line}${ownSequence(0, "m")}`;

/** What every authenticator takes for granted makes the picture larger. */
function withoutDefaults(text: string): string {
  if (!text.startsWith("otpauth:")) return text;
  const url = new URL(text);
  for (const [name, value] of [
    ["algorithm", "SHA1"],
    ["digits", "6"],
    ["period", "30"],
  ] as const)
    if (url.searchParams.get(name) === value) url.searchParams.delete(name);
  return url.href;
}
