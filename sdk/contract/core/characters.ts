/**
 * Characters that move the cursor, change colours, break lines or reorder text on a terminal: C0, DEL, C1, the
 * separators of lines and paragraphs, and the bidirectional controls. Ranges of a character class.
 */
export const controlCharacters = String.raw`\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f`;

const controls = new RegExp(`[${controlCharacters}]`, "g");

const names: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const shown = (char: string): string => names[char] ?? `\\u${char.codePointAt(0)!.toString(16).padStart(4, "0")}`;

/** Text with every control character written as JSON writes it, so that JSON stays the same JSON. */
export const escapeControls = (text: string): string => text.replace(controls, shown);
