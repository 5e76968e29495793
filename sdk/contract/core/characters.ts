/**
 * Characters that move the cursor, change colours, break lines or reorder text on a terminal: C0, DEL, C1, the
 * separators of lines and paragraphs, and the bidirectional controls. Ranges of a character class.
 */
export const controlCharacters = String.raw`\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f`;

const controls = new RegExp(`[${controlCharacters}]`, "g");

const names: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const shown = (char: string): string => {
  const number = char.codePointAt(0)!.toString(16);
  return names[char] ?? (number.length > 4 ? `\\u{${number}}` : `\\u${number.padStart(4, "0")}`);
};

/** Text with every control character written as JSON writes it, so that JSON stays the same JSON. */
export const escapeControls = (text: string): string => text.replace(controls, shown);

const joining = "Arabic Syriac Nko Mongolian Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam"
  .concat(" Sinhala Khmer Myanmar Tibetan")
  .split(" ")
  .map((script) => `\\p{Script=${script}}`)
  .join("");

/** Joiners and selectors where they belong to the spelling: in scripts that join their letters, of Han, in emoji. */
const spelling =
  `(?<=[${joining}\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])[\\u200c\\u200d](?=\\S)` +
  "|(?<=[\\p{Extended_Pictographic}\\p{Script=Han}\\p{Script=Mongolian}\\p{Script=Myanmar}])" +
  "[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}\\u180b-\\u180d]" +
  "|(?<=[0-9#*])\\ufe0f(?=\\u20e3)";

/** Controls but for white space, and characters that show nothing. */
const invisible = String.raw`[^\P{Cc}\t\n\v\f\r\u0085]|[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u2800]`;

/** Made when it is used: reading the tables of Unicode takes 5 ms. */
let made: RegExp | undefined;
const unseen = (): RegExp => {
  made ??= new RegExp(`(${spelling})|${invisible}`, "gu");
  return made;
};

/** The first character of a text that nobody can see, as `U+200B`; undefined where all can be seen. */
export function invisibleIn(text: string): string | undefined {
  for (const [char, spelled] of text.matchAll(unseen())) {
    if (spelled === undefined) return `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
  }
  return undefined;
}

export const isVisible = (text: string): boolean => invisibleIn(text) === undefined;

/** Text with U+FFFD, which can be seen, for each character that nobody can see. */
export const withoutInvisible = (text: string): string =>
  text.replace(unseen(), (_char, spelled?: string) => spelled ?? "\ufffd");

/** Text with the number of each character that nobody can see in its place. */
export const escapeInvisible = (text: string): string =>
  text.replace(unseen(), (char, spelled?: string) => spelled ?? shown(char));

/**
 * The form of a name that decides whether two are the same (docs/conventions.md, "One spelling"): case, width, blanks
 * and what shows nothing do not count.
 */
export const foldName = (name: string): string =>
  name
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .trim()
    .replace(/\s+/g, " ")
    .toLowerCase();

/** The same, with nothing left but letters and digits without their marks: what two names have that look alike. */
export const looksOf = (name: string): string =>
  foldName(name)
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}]/gu, "") || foldName(name);
