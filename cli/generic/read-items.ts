import { readFile } from "node:fs/promises";
import { usageError } from "../errors/cli-error.ts";
import { readStdin } from "../profile/secret-text.ts";
import type { Shell } from "../shell.ts";
import { linesOfJson } from "./lines-of-json.ts";

export type Item = Record<string, unknown>;

/** What `-f` gave: one body, or a list of which each is sent by itself. */
export interface Given {
  list: boolean;
  items: Item[];
  /** Where each stands in the file. */
  lines: readonly (number | null)[];
  /** CSV cells are text and still have to be read as the contract types them. */
  textual: boolean;
}

type Parsed = { value: unknown; lines: readonly (number | null)[]; textual?: boolean };

/** Reads JSON, NDJSON, CSV or YAML, told apart by the file's ending or, from stdin, by its look. */
export async function readItems(shell: Shell, path: string): Promise<Given> {
  const text = (path === "-" ? await readStdin(shell) : await fileText(path)).replace(/^\ufeff/, "");
  if (text.trim() === "") throw usageError(`${nameOf(path)} is empty`);
  const { value, lines, textual = false } = await parsed(text, path);
  const items = Array.isArray(value) ? value : [value];
  items.forEach((item, index) => {
    if (typeof item === "object" && item !== null && !Array.isArray(item)) return;
    throw usageError(`${nameOf(path)}: ${placeOf(lines[index], index)} is not an object`);
  });
  return { list: Array.isArray(value), items: items as Item[], lines, textual };
}

async function fileText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw usageError(`Cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? "failed"}`);
  }
}

/** `line 3`, or `entry 2` where the file does not tell lines. */
export const placeOf = (line: number | null | undefined, index: number): string =>
  line === null || line === undefined ? `entry ${index + 1}` : `line ${line}`;

const nameOf = (path: string): string => (path === "-" ? "stdin" : path);

async function parsed(text: string, path: string): Promise<Parsed> {
  const ending = /\.(json|ndjson|jsonl|csv|tsv|ya?ml)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === "csv" || ending === "tsv") return csv(text, path);
  if (ending === "yaml" || ending === "yml") return yaml(text, path);
  if (ending === "ndjson" || ending === "jsonl") return ndjson(text, path);
  if (ending === "json") return json(text, path);
  return guessed(text, path);
}

function guessed(text: string, path: string): Parsed | Promise<Parsed> {
  const start = text.trimStart()[0];
  if (start === "[" || start === "{") {
    try {
      return { value: JSON.parse(text), lines: linesOfJson(text) };
    } catch (error) {
      if (start === "{" && /\}\s*\n\s*\{/.test(text)) return ndjson(text, path);
      throw usageError(`${nameOf(path)}: ${(error as Error).message}`);
    }
  }
  const first = text.trimStart().split(/\r?\n/, 1)[0]!;
  return /^[^:#]+[,;\t][^:]*$/.test(first) ? csv(text, path) : yaml(text, path);
}

function json(text: string, path: string): Parsed {
  try {
    return { value: JSON.parse(text), lines: linesOfJson(text) };
  } catch (error) {
    throw usageError(`${nameOf(path)}: ${(error as Error).message}`);
  }
}

function ndjson(text: string, path: string): Parsed {
  const rows = text
    .split("\n")
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== "");
  const value = rows.map(({ line, number }) => {
    try {
      return JSON.parse(line) as unknown;
    } catch {
      throw usageError(`${nameOf(path)}: line ${number} is not JSON`);
    }
  });
  return { value, lines: rows.map(({ number }) => number) };
}

async function csv(text: string, path: string): Promise<Parsed> {
  const { parse } = await import("csv-parse/sync");
  const first = text.split(/\r?\n/, 1)[0]!;
  const delimiter = ["\t", ";", ","].find((one) => first.includes(one)) ?? ",";
  try {
    const options = { columns: true, delimiter, trim: true, skip_empty_lines: true, info: true } as const;
    const rows = parse(text, options) as unknown as { record: Record<string, string>; info: { lines: number } }[];
    const inside = (record: Record<string, string>) => Object.values(record).join("").split("\n").length - 1;
    const lines = rows.map(({ record, info }) => info.lines - inside(record));
    return { value: rows.map(({ record }) => record), lines, textual: true };
  } catch (error) {
    throw usageError(`${nameOf(path)}: ${(error as Error).message}`);
  }
}

async function yaml(text: string, path: string): Promise<Parsed> {
  const { isSeq, LineCounter, parseDocument } = await import("yaml");
  try {
    const lineCounter = new LineCounter();
    const document = parseDocument(text, { lineCounter });
    if (document.errors[0]) throw document.errors[0];
    const items = isSeq(document.contents) ? document.contents.items : [document.contents];
    const lines = items.map((item) => {
      const start = (item as { range?: readonly number[] | null } | null)?.range?.[0];
      return start === undefined ? null : lineCounter.linePos(start).line;
    });
    return { value: document.toJS(), lines };
  } catch (error) {
    throw usageError(`${nameOf(path)}: ${(error as Error).message.split("\n")[0]}`);
  }
}
