import { type Document, keyOf, type Listed } from "./documents.ts";

/** Where a contract document defines an endpoint, and what it says of it there. */
export interface Segment {
  readonly endpoint: string;
  readonly document: number;
  /** What follows the endpoint up to the next one; endpoints named in one breath share what follows the last. */
  readonly text: string;
  /** The text speaks of reads and writes at once. */
  readonly mixed: boolean;
}

interface Found {
  readonly endpoint: string;
  readonly start: number;
  readonly end: number;
}

const named = /`([A-Z|]{3,}) (\/[^\s`?]*)(?:\?[^`]*)?`/g;
/** An endpoint that stands behind one of these is defined there; anywhere else it is only mentioned. */
const defines = /(^(#+ .*)?|^- |[.·;,:] |➕ |\[X?\d+\] )$/;
const begins = /^(#+ .*|- )?(➕ |\[X?\d+\] )?`[A-Z|]{3,} \//;
/** Outside such a line only a marked endpoint is defined. */
const marked = /(➕ |\[X?\d+\] )$/;

/** Every definition of the documents, in their order. */
export function segmentsOf(documents: readonly Document[], listed: readonly Listed[]): Segment[] {
  const known = new Set(listed.map(keyOf));
  return documents
    .filter(({ kind }) => kind === "contract")
    .flatMap((document) =>
      document.lines.flatMap((line, index) => {
        const found = foundIn(line, known);
        const text = line + continuation(document.lines, index);
        return textsOf(text, found).map((one) => ({ ...one, document: document.number }));
      }),
    )
    .filter(({ text }) => !/^: contract \d/.test(text));
}

function foundIn(line: string, known: ReadonlySet<string>): Found[] {
  const whole = begins.test(line);
  return [...line.matchAll(named)].flatMap((match) => {
    const before = line.slice(0, match.index);
    if (!(whole ? defines : marked).test(before)) return [];
    const span = { start: match.index, end: match.index + match[0].length };
    return (match[1] as string)
      .split("|")
      .map((method) => `${method} ${match[2]}`)
      .filter((endpoint) => known.has(endpoint))
      .map((endpoint) => ({ endpoint, ...span }));
  });
}

/** Indented lines, and a paragraph of steps, belong to the definition above them. */
function continuation(lines: readonly string[], index: number): string {
  let text = "";
  for (let next = index + 1; /^\s+\S|^Steps: /.test(lines[next] ?? ""); next++) text += `\n${lines[next]}`;
  return text;
}

function textsOf(text: string, found: readonly Found[]): Omit<Segment, "document">[] {
  const texts: Omit<Segment, "document">[] = [];
  let shared: string[] = [];
  for (const [index, { endpoint, end }] of found.entries()) {
    shared.push(endpoint);
    const next = found[index + 1];
    const rest = text.slice(end, next?.start);
    if (next && /^(, (➕ )?)?$/.test(rest)) continue;
    const reads = shared.filter((one) => one.startsWith("GET ")).length;
    const mixed = reads > 0 && reads < shared.length;
    for (const one of shared) texts.push({ endpoint: one, text: rest.replace(/ ?(➕|\[X?\d+\]) $/, ""), mixed });
    shared = [];
  }
  return texts;
}
