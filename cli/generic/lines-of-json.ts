/** The line on which each entry of a JSON array begins, or the document itself where it is no array. Sound JSON only. */
export function linesOfJson(text: string): number[] {
  const start = text.search(/\S/);
  const lineAt = (index: number) => text.slice(0, index).split("\n").length;
  if (text[start] !== "[") return [lineAt(start)];
  const lines: number[] = [];
  let line = lineAt(start);
  let depth = 0;
  let fresh = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at] as string;
    if (char === "\n") line++;
    if (/\s/.test(char)) continue;
    if (fresh && char !== "]") {
      lines.push(line);
      fresh = false;
    }
    if (char === '"') for (at++; text[at] !== '"'; at++) if (text[at] === "\\") at++;
    if (char === "[" || char === "{") depth++;
    if (char === "]" || char === "}") depth--;
    if (depth === 1 && (char === "," || at === start)) fresh = true;
  }
  return lines;
}
