import { usageError } from "../errors/cli-error.ts";
import { readTable } from "../input/csv-table.ts";
import { parseDocument } from "../input/parse-document.ts";
import { fileName, readText } from "../input/read-text.ts";
import { parseWritten } from "../input/written.ts";
import type { Shell } from "../shell.ts";

/** Numbers and truth values are `Written`, except of CSV, whose cells are all text. */
export type Item = Record<string, unknown>;

/** What `-f` gave: one body, or a list of which each is sent by itself. */
export interface Given {
  list: boolean;
  items: Item[];
  /** CSV cells are text and still have to be read as the contract types them. */
  textual: boolean;
  /** Where an item, or one field of it, stands: `contacts.csv:4, column 2 (phone)`, `entry 3, phone`. */
  placeOf(item: number, key?: string): string;
}

interface Parsed {
  value: unknown;
  textual?: boolean;
  placeOf?: Given["placeOf"];
}

/** Reads JSON, NDJSON, CSV or YAML, told apart by the file's ending or, from stdin, by its look. */
export async function readItems(shell: Shell, path: string, encoding?: string): Promise<Given> {
  const text = await readText(shell, path, encoding);
  const name = fileName(path);
  if (text.trim() === "") throw usageError(`${name} is empty`);
  const { value, textual = false, placeOf = entryOf } = await parsed(text, path);
  const items = Array.isArray(value) ? value : [value];
  items.forEach((item, index) => {
    if (typeof item === "object" && item !== null && !Array.isArray(item)) return;
    throw usageError(`${name}: entry ${index + 1} is not an object`);
  });
  return { list: Array.isArray(value), items: items as Item[], textual, placeOf };
}

const entryOf = (item: number, key?: string): string => `entry ${item + 1}${key === undefined ? "" : `, ${key}`}`;

async function parsed(text: string, path: string): Promise<Parsed> {
  const name = fileName(path);
  const ending = /\.(json|ndjson|jsonl|csv|tsv|ya?ml)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === "csv" || ending === "tsv") return csv(text, name);
  if (ending === "yaml" || ending === "yml") return yaml(text, name);
  if (ending === "ndjson" || ending === "jsonl") return { value: ndjson(text, name) };
  if (ending === "json") return { value: parseWritten(text, name) };
  return guessed(text, name);
}

function guessed(text: string, name: string): Parsed | Promise<Parsed> {
  const start = text.trimStart()[0];
  if (start === "{" && /\}\s*\n\s*\{/.test(text) && !isJson(text)) return { value: ndjson(text, name) };
  if (start === "[" || start === "{") return isJson(text) ? { value: parseWritten(text, name) } : yaml(text, name);
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

const ndjson = (text: string, name: string): unknown[] =>
  text
    .split("\n")
    .map((line, index) => ({ line: line.trim(), place: `${name}:${index + 1}` }))
    .filter(({ line }) => line !== "")
    .map(({ line, place }) => parseWritten(line, place));

/** Every row is an entry: one that cannot be read stops the command before it sends anything. */
function csv(text: string, name: string): Parsed {
  const { header, records, refused, remarks } = readTable(text);
  const faults = [...refused.map(({ line, reason }) => ({ line, message: reason })), ...remarks.filter(isLoss)];
  if (faults.length > 0) {
    const [{ line, message }] = faults as [(typeof faults)[0]];
    const details = faults.map((fault) => ({ path: `${name}:${fault.line}`, message: fault.message }));
    throw usageError(`${name}:${line}: ${message}`, undefined, details);
  }
  const items = records.map(({ cells }) =>
    Object.fromEntries(header.map((column, at) => [column, cells[at] ?? ""]).filter(([column]) => column !== "")),
  );
  const placeOf = (item: number, key?: string) => {
    const column = key === undefined ? "" : `, column ${header.indexOf(key) + 1} (${key})`;
    return `${name}:${records[item]?.line}${column}`;
  };
  return { value: items, textual: true, placeOf };
}

/** A cell that would be sent nowhere. */
const isLoss = ({ message }: { message: string }): boolean => /has no name|are named/.test(message);

async function yaml(text: string, name: string): Promise<Parsed> {
  const { value, problems, lineOf } = await parseDocument(text);
  const [problem] = problems;
  if (problem) throw usageError(`${name}:${problem.line}: ${problem.message.split("\n")[0]}`);
  const list = Array.isArray(value);
  const placeOf = (item: number, key?: string) => {
    const steps = [...(list ? [item] : []), ...(key === undefined ? [] : [key])];
    return `${name}:${lineOf(steps)}${key === undefined ? "" : `, ${key}`}`;
  };
  return { value, placeOf };
}
