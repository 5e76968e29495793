/**
 * Characters that move the cursor, change colours, break lines or reorder text on a terminal: C0, DEL, C1, the
 * separators of lines and paragraphs, and the bidirectional controls. Host names, paths and command lines come from
 * untrusted machines.
 */
const dangerous = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const names: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const shown = (char: string): string => names[char] ?? `\\u${char.codePointAt(0)!.toString(16).padStart(4, "0")}`;

/** Makes a value safe to show on one line of a terminal. */
export const escapeControls = (text: string): string => text.replace(dangerous, shown);

/** The same for text of several lines, whose own line ends and tabs stay. */
export const escapeText = (text: string): string =>
  text.replace(dangerous, (char) => (char === "\n" || char === "\t" ? char : shown(char)));

/** A field of tab-separated output: tabs, line ends and backslashes are written as escapes. */
export const escapeTsv = (text: string): string =>
  text.replace(/[\\\t\n\r]/g, (char) => (char === "\\" ? "\\\\" : (names[char] ?? char)));
