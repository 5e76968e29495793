import { readFile } from "node:fs/promises";
import { usageError } from "../errors/cli-error.ts";
import { readStdin } from "../profile/secret-text.ts";
import type { Shell } from "../shell.ts";

export type Item = Record<string, unknown>;

/** What `-f` gave: one body, or a list of which each is sent by itself. */
export interface Given {
  list: boolean;
  items: Item[];
  /** CSV cells are text and still have to be read as the contract types them. */
  textual: boolean;
}

type Parsed = { value: unknown; textual?: boolean };

/** Reads JSON, NDJSON, CSV or YAML, told apart by the file's ending or, from stdin, by its look. */
export async function readItems(shell: Shell, path: string): Promise<Given> {
  const text = (path === "-" ? await readStdin(shell) : await fileText(path)).replace(/^\ufeff/, "");
  if (text.trim() === "") throw usageError(`${nameOf(path)} is empty`);
  const { value, textual = false } = await parsed(text, path);
  const items = Array.isArray(value) ? value : [value];
  items.forEach((item, index) => {
    if (typeof item === "object" && item !== null && !Array.isArray(item)) return;
    throw usageError(`${nameOf(path)}: entry ${index + 1} is not an object`);
  });
  return { list: Array.isArray(value), items: items as Item[], textual };
}

async function fileText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw usageError(`Cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? "failed"}`);
  }
}

const nameOf = (path: string): string => (path === "-" ? "stdin" : path);

async function parsed(text: string, path: string): Promise<Parsed> {
  const ending = /\.(json|ndjson|jsonl|csv|tsv|ya?ml)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === "csv" || ending === "tsv") return csv(text, path);
  if (ending === "yaml" || ending === "yml") return yaml(text, path);
  if (ending === "ndjson" || ending === "jsonl") return { value: ndjson(text, path) };
  if (ending === "json") return { value: json(text, path) };
  return guessed(text, path);
}

function guessed(text: string, path: string): Parsed | Promise<Parsed> {
  const start = text.trimStart()[0];
  if (start === "[" || start === "{") {
    try {
      return { value: JSON.parse(text) };
    } catch (error) {
      if (start === "{" && /\}\s*\n\s*\{/.test(text)) return { value: ndjson(text, path) };
      throw usageError(`${nameOf(path)}: ${(error as Error).message}`);
    }
  }
  const first = text.trimStart().split(/\r?\n/, 1)[0]!;
  return /^[^:#]+[,;\t][^:]*$/.test(first) ? csv(text, path) : yaml(text, path);
}

function json(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`${nameOf(path)}: ${(error as Error).message}`);
  }
}

function ndjson(text: string, path: string): unknown[] {
  return text
    .split("\n")
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== "")
    .map(({ line, number }) => {
      try {
        return JSON.parse(line) as unknown;
      } catch {
        throw usageError(`${nameOf(path)}: line ${number} is not JSON`);
      }
    });
}

async function csv(text: string, path: string): Promise<Parsed> {
  const { parse } = await import("csv-parse/sync");
  const first = text.split(/\r?\n/, 1)[0]!;
  const delimiter = ["\t", ";", ","].find((one) => first.includes(one)) ?? ",";
  try {
    return { value: parse(text, { columns: true, delimiter, trim: true, skip_empty_lines: true }), textual: true };
  } catch (error) {
    throw usageError(`${nameOf(path)}: ${(error as Error).message}`);
  }
}

async function yaml(text: string, path: string): Promise<Parsed> {
  const { parse } = await import("yaml");
  try {
    return { value: parse(text) };
  } catch (error) {
    throw usageError(`${nameOf(path)}: ${(error as Error).message.split("\n")[0]}`);
  }
}
