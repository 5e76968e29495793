import { readFile } from "node:fs/promises";
import { usageError } from "../errors/cli-error.ts";
import type { Shell } from "../shell.ts";
import { decode } from "./decode.ts";

/** Of every command that reads a file of people. */
export const encodingOption = ["--encoding <name>", "of the file: utf-16le, cp1252 … (default: UTF-8)"] as const;

/** As messages name it. */
export const fileName = (path: string): string => (path === "-" ? "stdin" : path);

/** The text of a file, or of stdin for `-`. */
export async function readText(shell: Shell, path: string, encoding?: string): Promise<string> {
  return decode(await readBytes(shell, path), { name: fileName(path), label: encoding }).text;
}

export async function readBytes(shell: Shell, path: string): Promise<Uint8Array> {
  if (path === "-") return bytesOfStdin(shell);
  try {
    return await readFile(path);
  } catch (error) {
    throw usageError(`Cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? "failed"}`);
  }
}

/** The text of a file of this program's own; errors of the system are the caller's. */
export const readOwnText = async (path: string): Promise<string> => decode(await readFile(path), { name: path }).text;

const read = new WeakMap<object, Promise<Uint8Array>>();

/** All of stdin, read once. */
function bytesOfStdin(shell: Shell): Promise<Uint8Array> {
  const known = read.get(shell.stdin);
  if (known) return known;
  const bytes = collect(shell);
  read.set(shell.stdin, bytes);
  return bytes;
}

async function collect(shell: Shell): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of shell.stdin) chunks.push(Buffer.from(chunk as Buffer | string));
  return Buffer.concat(chunks);
}
