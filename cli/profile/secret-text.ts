import { CliError, usageError } from "../errors/cli-error.ts";
import { decode } from "../input/decode.ts";
import { fileName, readBytes } from "../input/read-text.ts";
import type { Shell } from "../shell.ts";

/**
 * Trims a pasted or stored secret. An empty one, or one with a control character or space inside, is refused; the
 * message names its source and never shows the secret.
 */
export function cleanToken(shell: Shell, raw: string, source: string): string {
  const token = raw.trim();
  shell.secrets.add(raw);
  shell.secrets.add(token);
  if (token === "") throw usageError(`${source} is empty`);
  if (!/^[\x21-\x7e]+$/.test(token)) throw usageError(`${source} has a space or a control character inside`);
  return token;
}

/** A password from a file or stdin: only the line end is removed, because spaces may be part of it. */
export function cleanPassword(shell: Shell, raw: string, source: string): string {
  const password = raw.replace(/\r?\n$/, "");
  shell.secrets.add(password);
  if (password === "") throw usageError(`${source} is empty`);
  return password;
}

export const readSecretFile = (shell: Shell, path: string, flag: string): Promise<string> =>
  readSecret(shell, path, flag);

/** All of stdin, read once. */
export const readStdin = (shell: Shell): Promise<string> => readSecret(shell, "-");

/** A message about a secret may name the file and position, never the text. */
async function readSecret(shell: Shell, path: string, flag?: string): Promise<string> {
  const bytes = await readBytes(shell, path, flag);
  try {
    return decode(bytes, { name: fileName(path) }).text;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const source = flag === undefined ? "" : `${flag}: `;
    throw usageError(`${source}${error.message.replace(/ \(byte 0x..\)/, "")}`, "Save it as UTF-8");
  }
}
