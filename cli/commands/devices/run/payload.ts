import type { UserCommandType } from "#contract/core/user-command-types";
import { usageError } from "../../../errors/cli-error.ts";
import { fileName, readText } from "../../../input/read-text.ts";
import { parseJson } from "../../../input/written.ts";
import type { Shell } from "../../../shell.ts";

/** Texts of payloads, whatever they look like. */
const texts: ReadonlySet<string> = new Set(["reason", "version"]);

/** The payload from `key=value` and from `@file`, which holds a JSON object; later ones win. */
export async function payloadOf(shell: Shell, given: readonly string[]): Promise<Record<string, unknown> | undefined> {
  if (given.length === 0) return undefined;
  const payload: Record<string, unknown> = {};
  for (const one of given) {
    if (one.startsWith("@")) Object.assign(payload, await objectIn(shell, one.slice(1)));
    else {
      const at = one.indexOf("=");
      if (at <= 0) throw usageError("--payload takes key=value, or @file with a JSON object");
      const [key, text] = [one.slice(0, at), one.slice(at + 1)];
      payload[key] = texts.has(key) ? text : plain(text);
    }
  }
  return payload;
}

/** Refuses what no device of any kind would take, before anything is sent. */
export async function checkPayload(type: UserCommandType, payload: Record<string, unknown>): Promise<void> {
  const { userPayloads } = await import("#contract/core/command-types");
  const { error } = userPayloads[type]().safeParse(payload);
  if (error === undefined) return;
  const faults = error.issues.map((issue) =>
    issue.code === "unrecognized_keys"
      ? `${type} takes no ${issue.keys.join(", ")}`
      : `${issue.path.join(".")}: ${issue.message}`,
  );
  throw usageError(`--payload: ${faults.join("; ")}`, "`rmm devices run --help` has what each type takes");
}

async function objectIn(shell: Shell, path: string): Promise<object> {
  const value = parseJson(await readText(shell, path, undefined, "--payload"), fileName(path));
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw usageError(`${fileName(path)} must hold one JSON object`);
}

/** Numbers and truth values as JSON writes them; anything else is text. */
const plain = (text: string): unknown =>
  /^(true|false|-?(0|[1-9]\d*)(\.\d+)?)$/.test(text) ? (JSON.parse(text) as unknown) : text;
