import { CliError, usageError } from "../errors/cli-error.ts";
import { decode } from "../input/decode.ts";
import { fileName, readBytes } from "../input/read-text.ts";
import type { Shell } from "../shell.ts";

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

export const readSecretFile = (shell: Shell, path: string, flag: string): Promise<string> =>
  readSecret(shell, path, `${flag}: `);

/** All of stdin, read once. */
export const readStdin = (shell: Shell): Promise<string> => readSecret(shell, "-", "");

/** Of a secret, a message may name the file and the place in it, never what stands there. */
async function readSecret(shell: Shell, path: string, source: string): Promise<string> {
  const bytes = await readBytes(shell, path);
  try {
    return decode(bytes, { name: fileName(path) }).text;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw usageError(`${source}${error.message.replace(/ \(byte 0x..\)/, "")}`, "Save it as UTF-8");
  }
}
