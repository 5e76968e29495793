import { createHash } from "node:crypto";
import { withoutInvisible } from "#contract/core/characters";
import { eventCategories, eventLevels } from "#contract/core/policy-features/event-log";
import { logLevels } from "#contract/resources/fleet/device-logs";
import { MINUTE } from "#server/platform/clock";
import { maskSecrets } from "#server/platform/mask-secrets";
import { type Facts, factsOf, isObject } from "./facts.ts";

type Level = (typeof logLevels)[number];
type EventLevel = (typeof eventLevels)[number];
type Category = (typeof eventCategories)[number];

export interface LogFacts {
  readonly timestamp: string;
  readonly level: Level;
  readonly component: string;
  readonly message: string;
  readonly fields: Facts | null;
  readonly agentVersion: string | null;
}

export interface EventFacts {
  readonly timestamp: string;
  readonly level: EventLevel;
  readonly category: Category;
  readonly source: string;
  readonly eventId: string;
  readonly message: string;
  readonly details: Facts | null;
}

const AHEAD_MS = 10 * MINUTE;
const UNKNOWN = "unknown";
const spellings: Readonly<Record<string, Level & EventLevel>> = { information: "info", err: "error" };

/**
 * An entry as it is stored, or undefined where its level or message cannot be used. Everything else that is malformed is
 * repaired: no device's entry is refused for one field (docs/device-logs.md, "What is kept of an entry").
 */
export function readLog(given: unknown, now: string): LogFacts | undefined {
  if (!isObject(given)) return undefined;
  const level = levelOf(given["level"], { warning: "warn" }, logLevels);
  const message = messageOf(given["message"], 10_000);
  if (level === undefined || message === undefined) return undefined;
  const { timestamp, original } = timeOf(given["timestamp"], now);
  return {
    ...{ timestamp, level, message },
    component: nameOf(given["component"], 100) ?? UNKNOWN,
    fields: factsOf(given["fields"], original, 32 * 1024),
    agentVersion: nameOf(given["agentVersion"], 50) ?? null,
  };
}

/** Undefined as above; "filtered" for what is less severe than `minimum`. */
export function readEvent(given: unknown, now: string, minimum: EventLevel): EventFacts | "filtered" | undefined {
  if (!isObject(given)) return undefined;
  const level = levelOf(given["level"], { warn: "warning", fatal: "critical" }, eventLevels);
  if (level === undefined) return undefined;
  if (eventLevels.indexOf(level) < eventLevels.indexOf(minimum)) return "filtered";
  const message = messageOf(given["message"], 2_000);
  if (message === undefined) return undefined;
  const { timestamp, original } = timeOf(given["timestamp"], now);
  const { category } = given;
  return {
    ...{ timestamp, level, message },
    category: eventCategories.includes(category as Category) ? (category as Category) : "system",
    source: nameOf(given["source"], 255) ?? UNKNOWN,
    eventId: nameOf(given["eventId"], 100) ?? idOf(given["timestamp"], level, message),
    details: factsOf(given["details"], original, 64 * 1024),
  };
}

function levelOf<L extends string>(
  given: unknown,
  own: Readonly<Record<string, L>>,
  levels: readonly L[],
): L | undefined {
  if (typeof given !== "string") return undefined;
  const name = given.trim().toLowerCase();
  const known = own[name] ?? spellings[name] ?? name;
  return levels.find((level) => level === known);
}

function messageOf(given: unknown, max: number): string | undefined {
  if (typeof given !== "string" || given.trim() === "") return undefined;
  // Masked before it is cut: half a key is no longer known as one.
  return cut(maskSecrets(cut(given, 2 * max)), max);
}

function nameOf(given: unknown, max: number): string | undefined {
  if (typeof given !== "string" && typeof given !== "number") return undefined;
  return cut(withoutInvisible(cut(String(given).trim(), max)), max) || undefined;
}

/** Not in the middle of a pair. */
const cut = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, "");

/** By the device's clock, unless that says nothing, or what cannot be: then by ours, and what it said is kept. */
function timeOf(given: unknown, now: string): { timestamp: string; original?: string } {
  const ms = typeof given === "string" && iso.test(given) ? Date.parse(zoned(given)) : Number.NaN;
  // Years that both databases hold.
  if (ms >= Date.UTC(1970) && ms <= Date.parse(now) + AHEAD_MS) return { timestamp: new Date(ms).toISOString() };
  const original = cut(typeof given === "string" ? given : (JSON.stringify(given) ?? ""), 100);
  return { timestamp: now, original };
}

const iso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;
/** A time without an offset is UTC, wherever the server runs. */
const zoned = (text: string): string => (/(?:Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`);

/** The same record again has the same id. Made of the masked message: nothing in an id helps to guess a secret. */
const idOf = (timestamp: unknown, level: string, message: string): string =>
  createHash("sha256")
    .update(JSON.stringify([timestamp, level, message]))
    .digest("hex")
    .slice(0, 32);
