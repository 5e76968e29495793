import { readFile } from "node:fs/promises";
import { CliError, usageError } from "../errors/cli-error.ts";
import type { Shell } from "../shell.ts";
import { spelledMs } from "../wait-at-most.ts";

/**
 * A secret as it was pasted or stored: white space around it goes. One that is empty, or has a control
 * character or space inside, is refused by the name of its source; the secret itself is never shown.
 */
export function cleanToken(shell: Shell, raw: string, source: string): string {
  const token = raw.trim();
  shell.secrets.add(raw);
  shell.secrets.add(token);
  if (token === "") throw usageError(`${source} is empty`);
  if (!/^[\x21-\x7e]+$/.test(token)) throw usageError(`${source} has a space or a control character inside`);
  return token;
}

/** A password from a file or stdin: only the line end goes, for a space may belong to it. */
export function cleanPassword(shell: Shell, raw: string, source: string): string {
  const password = raw.replace(/\r?\n$/, "");
  shell.secrets.add(password);
  if (password === "") throw usageError(`${source} is empty`);
  return password;
}

export async function readSecretFile(path: string, flag: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw usageError(`Cannot read the file of ${flag}: ${path}: ${(error as NodeJS.ErrnoException).code ?? "failed"}`);
  }
}

const read = new WeakMap<object, Promise<string>>();

/** All of stdin, read once. */
export function readStdin(shell: Shell): Promise<string> {
  const known = read.get(shell.stdin);
  if (known) return known;
  const text = collect(shell);
  read.set(shell.stdin, text);
  return text;
}

const SILENCE_MS = 60_000;

/** A terminal has a person before it, who may think; anything else that is open and silent is given up. */
async function collect(shell: Shell): Promise<string> {
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
  return Buffer.concat(chunks).toString("utf8");
}

const silence = (limitMs: number): CliError =>
  new CliError(`Nothing came on stdin for ${spelledMs(limitMs)}, and it is still open`, {
    exit: "usage",
    code: "STDIN_SILENT",
    hint: "Close it, pipe something into it, or give --timeout for a program that takes longer",
  });
