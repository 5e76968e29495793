import { readFile } from "node:fs/promises";
import { systemReason } from "#sdk/node/system-reason";
import { CliError, usageError } from "../errors/cli-error.ts";
import type { Shell } from "../shell.ts";
import { spelledMs } from "../wait-at-most.ts";
import { decode } from "./decode.ts";

/** The flag of every command that reads a user's file. */
export const encodingOption = ["--encoding <name>", "of the file: utf-16le, cp1252 … (default: UTF-8)"] as const;

/** As messages name it. */
export const fileName = (path: string): string => (path === "-" ? "stdin" : path);

/** The text of a file, or of stdin for `-`. `flag`: which flag names it; an argument needs none. */
export async function readText(shell: Shell, path: string, encoding?: string, flag?: string): Promise<string> {
  return decode(await readBytes(shell, path, flag), { name: fileName(path), label: encoding }).text;
}

export async function readBytes(shell: Shell, path: string, flag?: string): Promise<Uint8Array> {
  if (path === "-") return bytesOfStdin(shell);
  try {
    return await readFile(path);
  } catch (error) {
    throw usageError(`${flag === undefined ? "Cannot" : `${flag}: cannot`} read ${path}: ${systemReason(error)}`);
  }
}

/** The text of one of this program's own files; the caller handles system errors. */
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

const SILENCE_MS = 60_000;

/** A terminal may wait for its user; any other open stdin without data times out. */
async function collect(shell: Shell): Promise<Uint8Array> {
  const limitMs = shell.patienceMs ?? SILENCE_MS;
  const silent = () => void shell.stdin.destroy(silence(limitMs));
  const timer = shell.isTty.stdin ? undefined : setTimeout(silent, limitMs);
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of shell.stdin) {
      chunks.push(Buffer.from(chunk as Buffer | string));
      timer?.refresh();
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks);
}

const silence = (limitMs: number): CliError =>
  new CliError(`No input on stdin for ${spelledMs(limitMs)}, and it is still open`, {
    exit: "usage",
    code: "STDIN_SILENT",
    hint: "Close it, pipe something into it, or give --timeout for a program that takes longer",
  });
