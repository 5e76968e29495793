import { usageError } from "../errors/cli-error.ts";
import { parseDocument } from "../input/parse-document.ts";
import { fileName, readText } from "../input/read-text.ts";
import { parseWritten } from "../input/written.ts";
import type { Shell } from "../shell.ts";
import { linesOfJson } from "./lines-of-json.ts";

/** Numbers and truth values are `Written`, except of CSV, whose cells are all text. */
export type Item = Record<string, unknown>;

/** What `-f` gave: one body, or a list of which each is sent by itself. */
export interface Given {
  list: boolean;
  items: Item[];
  /** Where each stands in the file. */
  lines: readonly number[];
  /** CSV cells are text and still have to be read as the contract types them. */
  textual: boolean;
  /** Where an item, or one field of it, stands: `contacts.csv:4, column 2 (phone)`, `a.json:3, phone`. */
  placeOf(item: number, key?: string): string;
}

interface Parsed {
  value: unknown;
  lines: readonly number[];
  textual?: boolean;
  /** More of the place of a field than its line. */
  fieldOf?(item: number, key: string): string;
}

/** Reads JSON, NDJSON, CSV or YAML, told apart by the file's ending or, from stdin, by its look. */
export async function readItems(shell: Shell, path: string, encoding?: string): Promise<Given> {
  const text = await readText(shell, path, encoding, "--file");
  const name = fileName(path);
  if (text.trim() === "") throw usageError(`${name} is empty`);
  const { value, lines, textual = false, fieldOf = (item, key) => `${lines[item]}, ${key}` } = await parsed(text, path);
  const placeOf: Given["placeOf"] = (item, key) => `${name}:${key === undefined ? lines[item] : fieldOf(item, key)}`;
  const items = Array.isArray(value) ? value : [value];
  items.forEach((item, index) => {
    if (typeof item === "object" && item !== null && !Array.isArray(item)) return;
    throw usageError(`${placeOf(index)}: entry ${index + 1} is not an object`);
  });
  return { list: Array.isArray(value), items: items as Item[], lines, textual, placeOf };
}

async function parsed(text: string, path: string): Promise<Parsed> {
  const name = fileName(path);
  const ending = /\.(json|ndjson|jsonl|csv|tsv|ya?ml)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === "csv" || ending === "tsv") return csv(text, name);
  if (ending === "yaml" || ending === "yml") return yaml(text, name);
  if (ending === "ndjson" || ending === "jsonl") return ndjson(text, name);
  if (ending === "json") return json(text, name);
  return guessed(text, name);
}

function guessed(text: string, name: string): Parsed | Promise<Parsed> {
  const start = text.trimStart()[0];
  if (start === "{" && /\}\s*\n\s*\{/.test(text) && !isJson(text)) return ndjson(text, name);
  if (start === "[" || start === "{") return isJson(text) ? json(text, name) : yaml(text, name);
  const first = text.trimStart().split("\n", 1)[0]!;
  return /^[^:#]+[,;\t][^:]*$/.test(first) ? csv(text, name) : yaml(text, name);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const json = (text: string, name: string): Parsed => ({ value: parseWritten(text, name), lines: linesOfJson(text) });

function ndjson(text: string, name: string): Parsed {
  const rows = text
    .split("\n")
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== "");
  return {
    value: rows.map(({ line, number }) => parseWritten(line, `${name}:${number}`)),
    lines: rows.map(({ number }) => number),
  };
}

/** A row that cannot be read stops the command before it sends anything. */
async function csv(text: string, name: string): Promise<Parsed> {
  const { readTable } = await import("../input/csv-table.ts");
  const { header, records, refused, remarks } = readTable(text);
  const faults = [...refused.map(({ line, reason }) => ({ line, message: reason })), ...remarks.filter(isLoss)];
  if (faults.length > 0) {
    const [{ line, message }] = faults as [(typeof faults)[0]];
    const details = faults.map((fault) => ({ path: `${name}:${fault.line}`, message: fault.message }));
    throw usageError(`${name}:${line}: ${message}`, undefined, details);
  }
  const value = records.map(({ cells }) =>
    Object.fromEntries(header.map((column, at) => [column, cells[at] ?? ""]).filter(([column]) => column !== "")),
  );
  const lines = records.map(({ line }) => line);
  const fieldOf = (item: number, key: string) => `${lines[item]}, column ${header.indexOf(key) + 1} (${key})`;
  return { value, lines, textual: true, fieldOf };
}

/** A cell that would be sent nowhere. */
const isLoss = ({ message }: { message: string }): boolean => /has no name|are named/.test(message);

async function yaml(text: string, name: string): Promise<Parsed> {
  const { value, problems, lineOf } = await parseDocument(text);
  const [problem] = problems;
  if (problem) throw usageError(`${name}:${problem.line}: ${problem.message.split("\n")[0]}`);
  const stepsTo = (item: number) => (Array.isArray(value) ? [item] : []);
  const lines = (Array.isArray(value) ? value : [value]).map((_item, index) => lineOf(stepsTo(index)));
  const fieldOf = (item: number, key: string) => `${lineOf([...stepsTo(item), key])}, ${key}`;
  return { value, lines, fieldOf };
}
