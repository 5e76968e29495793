import { isExactNumber, type JsonStep, jsonFaults, jsonTokens } from "#contract/core/exact-json";
import { usageError } from "../errors/cli-error.ts";

/** A number or a truth value of a file, and how it is written there: its place decides which of the two counts. */
export class Written {
  readonly source: string;
  readonly value: number | boolean;

  constructor(source: string, value: number | boolean) {
    this.source = source;
    this.value = value;
  }
}

/** Where text belongs: `01067` and `1.10` as they are written. */
export function textAsWritten(value: unknown): unknown {
  if (value instanceof Written) return value.source;
  return typeof value === "boolean" || typeof value === "number" ? String(value) : value;
}

/** Told of a number that no double is, and where. */
export type Inexact = (steps: readonly JsonStep[], message: string) => void;

/** Where anything belongs: the types of JSON. */
export function jsonAsWritten(value: unknown, inexact: Inexact, steps: readonly JsonStep[] = []): unknown {
  if (value instanceof Written) {
    if (typeof value.value === "number" && !isExactNumber(value.source))
      inexact(steps, `the number ${value.source.slice(0, 40)} cannot be kept exactly: put it in quotes`);
    return value.value;
  }
  if (Array.isArray(value)) return value.map((one, index) => jsonAsWritten(one, inexact, [...steps, index]));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, jsonAsWritten(one, inexact, [...steps, key])]),
  );
}

/** JSON whose numbers keep how they are written. */
export function parseWritten(text: string, source: string): unknown {
  const holder = { value: parsed(text, source) };
  for (const { kind, steps, source: written } of jsonTokens(text)) {
    if (kind !== "number") continue;
    let at: Record<JsonStep, unknown> = holder;
    const path: JsonStep[] = ["value", ...steps];
    for (const step of path.slice(0, -1)) at = at[step] as Record<JsonStep, unknown>;
    at[path.at(-1)!] = new Written(written, Number(written));
  }
  return holder.value;
}

/** JSON that comes out as it is written, or is refused. */
export function parseJson(text: string, source: string): unknown {
  const value = parsed(text, source);
  const [fault] = jsonFaults(text);
  if (fault) throw usageError(`${source}: ${fault.message}`);
  return value;
}

function parsed(text: string, source: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The engine's message may repeat what stands there, which may be a secret.
    const at = / at position (\d+)/.exec((error as Error).message)?.[1];
    const line = at === undefined ? "" : `, line ${text.slice(0, Number(at)).split("\n").length}`;
    throw usageError(`${source} is not JSON${line}`);
  }
  // A key given twice would take the number of the other.
  const again = jsonFaults(text).find(({ message }) => !message.includes("the number"));
  if (again) throw usageError(`${source}: ${again.message}`);
  return value;
}
