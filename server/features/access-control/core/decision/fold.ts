/** Characters that show nothing, move what stands beside them, or are no characters: controls, formats, selectors, halves of pairs. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u2800]/u;

export const hasUnseen = (text: string): boolean => unseen.test(text);

/** Without the blanks of ASCII around it: others may be part of a name. */
export const trimAscii = (text: string): string => text.replace(/^[\t\n\v\f\r ]+|[\t\n\v\f\r ]+$/g, "");

/**
 * Names as they are compared (docs/privileged-access.md, "Names"): the simple lower case of each code point. No locale,
 * no upper case (`ß` is not `SS`) and no normalisation has a part in it.
 */
export function foldName(text: string): string {
  let folded = "";
  for (const char of trimAscii(text)) folded += lowerOf(char);
  return folded;
}

/** U+0130 is the one character whose full lower case has two code points; its simple one is `i`. */
const lowerOf = (char: string): string => (char === "\u0130" ? "i" : char.toLowerCase());

/**
 * Code points of a path as they are compared: `\` is `/`, and a letter is its lower case where that has it as its upper
 * case, as file systems compare. The sign of kelvin is no k: `C:\Kits` spelled with it is another folder, which anybody
 * may make.
 */
export const foldPath = (path: string): number[] => Array.from(path, (char) => foldInPath(char).codePointAt(0)!);

function foldInPath(char: string): string {
  if (char === "\\") return "/";
  const lower = char.toLowerCase();
  return lower.toUpperCase() === char ? lower : char;
}

/** Code points of a command line as they are compared. */
export const foldText = (text: string): number[] => Array.from(text, (char) => lowerOf(char).codePointAt(0)!);
