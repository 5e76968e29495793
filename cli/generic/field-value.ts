import { didYouMean } from "#contract/core/suggest";
import { parseDuration } from "../duration.ts";
import { usageError } from "../errors/cli-error.ts";
import { parseJson } from "../input/written.ts";
import type { FlagSpec, FlagType } from "../manifest.ts";

interface Reading {
  /** Named when the value is wrong: `--rate-limit`, `line 3, rateLimit`. */
  source: string;
  nowMs: number;
  where: "query" | "body";
}

/** Reads the text of a flag or a CSV cell as the contract types the field. */
export function fieldValue(spec: FlagSpec, text: string, reading: Reading): unknown {
  return scalar(spec.type, text, { ...spec, ...reading });
}

/** An array: repeated flags, each with commas; JSON objects stand alone. */
export function arrayValue(spec: FlagSpec, texts: readonly string[], reading: Reading): unknown[] {
  const { itemType = "string", itemValues } = spec;
  if (itemType === "object") return texts.flatMap((text) => parseJson(text, reading.source));
  const entries = texts.flatMap((text) =>
    text.trim().startsWith("[") ? jsonList(text, reading.source) : text.split(","),
  );
  return entries
    .map((one) => one.trim())
    .filter((one) => one !== "")
    .map((one) => scalar(itemType, one, { ...reading, values: itemValues }));
}

type Bounds = Reading & Pick<Partial<FlagSpec>, "values" | "minimum" | "maximum" | "format">;

function scalar(type: FlagType, text: string, bounds: Bounds): unknown {
  if (type === "integer" || type === "number") return numberOf(type, text, bounds);
  if (type === "boolean") return booleanOf(text, bounds.source);
  if (type === "object") return parseJson(text, bounds.source);
  if (type === "enum") return choice(text, bounds);
  return bounds.format === "date-time" ? instantOf(text, bounds) : text;
}

function numberOf(type: FlagType, text: string, { source, minimum, maximum }: Bounds): number {
  const number = Number(text);
  const fits =
    type === "integer"
      ? /^[+-]?\d+$/.test(text.trim()) && Number.isSafeInteger(number)
      : text.trim() !== "" && Number.isFinite(number);
  if (!fits) throw usageError(`${source} must be a ${type === "integer" ? "whole number" : "number"}`);
  if (minimum !== undefined && number < minimum) throw usageError(`${source} must be at least ${minimum}`);
  if (maximum !== undefined && number > maximum) throw usageError(`${source} must be at most ${maximum}`);
  return number;
}

function booleanOf(text: string, source: string): boolean {
  const value = text.trim().toLowerCase();
  if (["true", "yes", "1"].includes(value)) return true;
  if (["false", "no", "0"].includes(value)) return false;
  throw usageError(`${source} must be true or false`);
}

function choice(text: string, { source, values = [] }: Bounds): string {
  const found = values.find((one) => one === text) ?? values.find((one) => one.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found;
  throw usageError(`${source} must be one of ${values.join(", ")}${didYouMean(text, values)}`);
}

const FURTHEST_MS = 1_000 * 365 * 86_400_000;

/**
 * RFC 3339, a day, or a time from now: `30d`, `+30d`, `-30d`. Without a sign a body means the future and a query, which asks
 * for what has happened, the past. A query keeps a day: there it may mean its end.
 */
export function instantOf(text: string, { source, nowMs, where }: Reading): string {
  const value = text.trim();
  if (/^[+-]?\d+(\.\d+)?[a-z]/.test(value)) {
    const distance = parseDuration(value.replace(/^[+-]/, ""), source);
    const isPast = where === "query" ? !value.startsWith("+") : value.startsWith("-");
    if (distance > FURTHEST_MS) throw usageError(`${source} is further away than a thousand years`);
    return new Date(isPast ? nowMs - distance : nowMs + distance).toISOString();
  }
  const day = /^\d{4}-\d{2}-\d{2}$/.test(value);
  if (Number.isNaN(Date.parse(value)) || !isDay(value.slice(0, 10)) || !(day || /^\d{4}-\d{2}-\d{2}T/.test(value))) {
    throw usageError(`${source} must be a time such as 2026-01-31, 2026-01-31T09:00:00Z or 30d`);
  }
  return day && where === "body" ? `${value}T00:00:00.000Z` : value;
}

/** February 31 is read as a day of March where nobody looks. */
const isDay = (text: string): boolean => {
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
};

function jsonList(text: string, source: string): string[] {
  const parsed = parseJson(text, source);
  if (!Array.isArray(parsed)) throw usageError(`${source} must be a list`);
  return parsed.map(String);
}
