/** A command and its arguments, each flag with its value, and what follows of a shell's line. */
const part = /(?:--?[\w-]+(?:=\S*)? +(?!-|\\|<|>|\||&)|[<>|]+ *|&& *)?(?:'[^']*'|"[^"]*"|[^\s'"])+/g;

/** Examples of a help page that are longer than this go on in further lines, and can still be pasted. */
export const wrappedExamples = (help: string, width: number): string =>
  help
    .replaceAll(/^( {2}(?:rmm|curl|source) .*)(?: \\\n +(.*))+$/gm, (whole) => whole.replaceAll(/ \\\n +/g, " "))
    .split("\n")
    .map((line) => (/^ {2}(rmm|curl|source) /.test(line) && line.length > width ? continued(line, width) : line))
    .join("\n");

function continued(line: string, width: number): string {
  const lines: string[] = [];
  let at = " ";
  for (const [words] of line.trim().matchAll(part)) {
    if (`${at} ${words} \\`.length > width && at.trim() !== "") {
      lines.push(`${at} \\`);
      at = " ".repeat(INDENT - 1);
    }
    at += ` ${words.trim()}`;
  }
  return [...lines, at].join("\n");
}

const INDENT = 4;
