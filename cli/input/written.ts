import { isExactNumber, type JsonStep, jsonFaults, jsonTokens } from "#contract/core/exact-json";
import { usageError } from "../errors/cli-error.ts";

/** A number or boolean of a file with its original spelling; the field decides which of the two is used. */
export class Written {
  readonly source: string;
  readonly value: number | boolean;

  constructor(source: string, value: number | boolean) {
    this.source = source;
    this.value = value;
  }
}

/** For text fields: `01067` and `1.10` keep their spelling. */
export function textAsWritten(value: unknown): unknown {
  if (value instanceof Written) return value.source;
  return typeof value === "boolean" || typeof value === "number" ? String(value) : value;
}

/** Called for a number that a double cannot represent, with its position. */
export type Inexact = (steps: readonly JsonStep[], message: string) => void;

/** For fields of any type: JSON types. */
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

/** Parses JSON and keeps the spelling of numbers. */
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

/** Parses JSON without loss, or rejects it. */
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
    // The engine's message may quote the text, which may be a secret.
    const at = / at position (\d+)/.exec((error as Error).message)?.[1];
    const line = at === undefined ? "" : `, line ${text.slice(0, Number(at)).split("\n").length}`;
    throw usageError(`${source} is not JSON${line}`);
  }
  // A duplicate key would get the number of the other.
  const again = jsonFaults(text).find(({ message }) => !message.includes("the number"));
  if (again) throw usageError(`${source}: ${again.message}`);
  return value;
}
