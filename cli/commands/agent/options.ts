import type { SystemMix } from "#fixtures/simulators/agent/machines";
import type { Misbehaviour, Shares } from "#fixtures/simulators/agent/misbehaviour";
import { parseDuration } from "../../duration.ts";
import { usageError } from "../../errors/cli-error.ts";

export interface Options {
  count: string;
  keyFile?: string;
  secretFile?: string;
  seed: string;
  os?: string;
  interval: string;
  for?: string;
  misbehave?: string;
  transport: string;
  sockets: string;
  state?: string;
}

/** Longest timer there is. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export function wholeNumber(text: string, flag: string, max: number): number {
  if (/^\d{1,6}$/.test(text) && Number(text) >= 1 && Number(text) <= max) return Number(text);
  throw usageError(`${flag} must be a whole number from 1 to ${max}`);
}

export function span(text: string, flag: string, leastMs: number): number {
  const ms = parseDuration(text, flag);
  if (ms >= leastMs && ms <= TIMER_MAX_MS) return ms;
  throw usageError(`${flag} must be from ${leastMs / 1_000}s to 24d`);
}

/** `windows=60,linux=40` */
export function readSystems(text: string): SystemMix {
  const parts = text.split(",").map((part) => /^\s*(windows|macos|linux)=(\d{1,4})\s*$/.exec(part));
  const mix: SystemMix = Object.fromEntries(
    parts.flatMap((part) => (part === null ? [] : [[part[1], Number(part[2])]])),
  );
  if (parts.includes(null) || Object.keys(mix).length < parts.length || !Object.values(mix).some((share) => share > 0))
    throw usageError("--os must be shares such as windows=60,macos=20,linux=20");
  return mix;
}

export function readTransport(text: string): "socket" | "poll" {
  if (text === "socket" || text === "poll") return text;
  throw usageError("--transport must be socket or poll");
}

const USUAL_SHARE = 0.1;

/** `slow,silent:0.2` */
export function readShares(text: string, known: readonly string[]): Shares {
  const shares: Partial<Record<Misbehaviour, number>> = {};
  for (const part of text.split(",")) {
    const [kind = "", share = String(USUAL_SHARE), ...more] = part.trim().split(":");
    if (!known.includes(kind)) throw usageError(`--misbehave: there is no ${kind || "empty"} kind`, known.join(", "));
    if (more.length > 0 || !/^(0?\.\d+|[01](\.0+)?)$/.test(share))
      throw usageError(`--misbehave ${kind}: its share must be from 0 to 1, such as ${kind}:0.2`);
    shares[kind as Misbehaviour] = Number(share);
  }
  return shares;
}
