import { parse } from "csv-parse/sync";
import { usageError } from "../errors/cli-error.ts";

export interface CsvRecord {
  /** 1-based line on which it begins. */
  readonly line: number;
  readonly cells: readonly string[];
}

export interface RefusedRow {
  readonly line: number;
  readonly reason: string;
}

/** A notice about a line that was accepted. */
export interface Remark {
  readonly line: number;
  readonly message: string;
}

export interface CsvTable {
  readonly delimiter: string;
  readonly header: readonly string[];
  readonly records: readonly CsvRecord[];
  readonly refused: readonly RefusedRow[];
  readonly remarks: readonly Remark[];
}

/** Reads delimited text. A malformed row is rejected with its line number, and reading continues on the next line. */
export function readTable(text: string, givenDelimiter?: string): CsvTable {
  const { lines, first, named } = prepared(text);
  const delimiter = givenDelimiter ?? named ?? detectDelimiter(lines, first);
  const header = nextRecord(lines, first, delimiter);
  if (!header || header.unclosed) throw usageError("The file has no header line");
  const names = distinctNames(cellsOf(header.text, delimiter));
  const records: CsvRecord[] = [];
  const refused: RefusedRow[] = [];
  const remarks: Remark[] = twice(names, header.start + 1);
  for (let at = header.next; ; ) {
    const found = nextRecord(lines, at, delimiter);
    if (!found) break;
    const line = found.start + 1;
    const cells = found.unclosed ? [] : withoutEmptyEnd(cellsOf(found.text, delimiter), names.length);
    const reason = reasonAgainst(found, cells, { width: names.length, delimiter });
    if (reason === undefined) records.push({ line, cells });
    else refused.push({ line, reason });
    if (reason === undefined && cells.length < names.length) {
      const lacking = names.slice(cells.length).join(", ");
      remarks.push({
        line,
        message: `ends after ${cells.length} of ${names.length} columns; taken as empty: ${lacking}`,
      });
    }
    // A stray quote would include the following lines: only its own line is rejected.
    at = reason === undefined ? found.next : found.start + 1;
  }
  return {
    delimiter,
    header: names,
    records,
    refused,
    remarks: [...remarks, ...nameless(names, records, header.start + 1)],
  };
}

/** Empty cells at the end of a row may be missing; a filled cell without a column is an error. */
function reasonAgainst(
  { unclosed, start, next }: Found,
  cells: readonly string[],
  { width, delimiter }: { width: number; delimiter: string },
): string | undefined {
  // A row over several lines with missing columns has other rows inside its quotes.
  if (unclosed || (next - start > 1 && cells.length !== width)) return "a quote is opened and not closed in its place";
  if (cells.length > width) {
    const extra = cells.slice(width).map((cell) => JSON.stringify(cell));
    return `has ${cells.length} columns, the header has ${width}: ${extra.join(", ")} belongs to none`;
  }
  if (cells.length > 1 || width === 1) return undefined;
  const other = candidates.find((char) => char !== delimiter && (cells[0] ?? "").includes(char));
  return other && `has 1 column, the header has ${width}: it seems to be divided by ${JSON.stringify(other)}`;
}

/** Lines without line ends, and Excel's `sep=;` if it is the first line. */
function prepared(text: string): { lines: string[]; first: number; named: string | undefined } {
  const lines = text
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .split("\n");
  const named = /^"?sep=(.)"?$/i.exec(lines[0] ?? "")?.[1];
  return { lines, first: named === undefined ? 0 : 1, named };
}

interface Found {
  /** 0-based. */
  readonly start: number;
  readonly next: number;
  readonly text: string;
  readonly unclosed: boolean;
}

/** The next record that is not blank. A field that starts with a quote may contain line ends. */
function nextRecord(lines: readonly string[], from: number, delimiter: string): Found | undefined {
  let start = from;
  while (start < lines.length && (lines[start] as string).trim() === "") start++;
  if (start >= lines.length) return undefined;
  let quoted = false;
  for (let at = start; at < lines.length; at++) {
    quoted = endsQuoted(lines[at] as string, delimiter, quoted);
    if (!quoted) return { start, next: at + 1, text: lines.slice(start, at + 1).join("\n"), unclosed: false };
  }
  return { start, next: lines.length, text: "", unclosed: true };
}

function endsQuoted(line: string, delimiter: string, quotedBefore: boolean): boolean {
  let quoted = quotedBefore;
  let fieldStart = !quotedBefore;
  for (let at = 0; at < line.length; at++) {
    const char = line[at];
    if (quoted) {
      if (char === '"' && line[at + 1] === '"') at++;
      else if (char === '"') quoted = false;
    } else if (char === '"' && fieldStart) quoted = true;
    fieldStart = !quoted && (char === delimiter || (fieldStart && char === " "));
  }
  return quoted;
}

function cellsOf(record: string, delimiter: string): string[] {
  const options = {
    delimiter,
    relax_quotes: true,
    relax_column_count: true,
    ltrim: true,
    record_delimiter: ["\u0000"],
  };
  const [cells = []] = parse(record, options) as string[][];
  return cells.map((cell) => cell.replace(/^="(.*)"$/s, "$1").trim());
}

/** Spreadsheets end rows with delimiters that the header does not have, or leave out those of empty cells. */
function withoutEmptyEnd(cells: readonly string[], width: number): readonly string[] {
  const end = cells.findLastIndex((cell) => cell !== "") + 1;
  return cells.slice(0, Math.max(end, Math.min(width, cells.length)));
}

const twice = (names: readonly string[], line: number): Remark[] =>
  names
    .filter((name) => / \(\d+\)$/.test(name) && names.includes(name.replace(/ \(\d+\)$/, "")))
    .map((name) => ({
      line,
      message: `two columns are named ${name.replace(/ \(\d+\)$/, "")}: this one is called ${name} in --map`,
    }));

/** A column without a name cannot be used. */
const nameless = (names: readonly string[], records: readonly CsvRecord[], line: number): Remark[] =>
  names.flatMap((name, at) =>
    name === "" && records.some(({ cells }) => (cells[at] ?? "") !== "")
      ? [{ line, message: `column ${at + 1} has no name: it is not used` }]
      : [],
  );

/** A second column of one name is `Name (2)`. */
function distinctNames(cells: readonly string[]): string[] {
  const seen = new Map<string, number>();
  const named = cells.map((cell) => {
    const count = (seen.get(cell) ?? 0) + 1;
    seen.set(cell, count);
    return count === 1 || cell === "" ? cell : `${cell} (${count})`;
  });
  while (named.at(-1) === "") named.pop();
  return named;
}

const candidates = [",", ";", "\t", "|"];
const SAMPLE = 30;

/** The delimiter under which most rows have as many cells as the header; more cells decide between equals. */
function detectDelimiter(lines: readonly string[], first: number): string {
  const scores = candidates.map((delimiter) => {
    const counts: number[] = [];
    for (let at = first; counts.length < SAMPLE; ) {
      const found = nextRecord(lines, at, delimiter);
      if (!found || found.unclosed) break;
      counts.push(cellsOf(found.text, delimiter).length);
      at = found.next;
    }
    const width = counts[0] ?? 0;
    const fitting = counts.filter((count) => count === width).length / Math.max(1, counts.length);
    return { delimiter, score: width > 1 ? fitting * 1_000 + width : 0 };
  });
  const best = scores.reduce((a, b) => (b.score > a.score ? b : a));
  return best.score > 0 ? best.delimiter : ",";
}
