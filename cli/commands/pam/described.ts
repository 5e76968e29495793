import { elevationFacts } from "#contract/core/elevation-facts";
import type { Elevation } from "#sdk/generated/models/index";
import { relativeTime } from "../../output/relative-time.ts";

/** Everything that somebody decides on, a line each, with what nobody sees escaped; whoever prints it escapes controls. */
export function described(request: Elevation, nowMs: number): string[] {
  const asked = relativeTime(request.requestedAt, nowMs) ?? request.requestedAt;
  const facts = elevationFacts(request, asked);
  const left = request.waitsUntil ? [{ name: "Time left", value: leftOf(request.waitsUntil, nowMs) }] : [];
  return [...facts, ...left].map(({ name, value }) => `${name.padEnd(13)}${value}`);
}

/** Until nobody can decide any more. */
function leftOf(until: string, nowMs: number): string {
  const minutes = Math.floor((Date.parse(until) - nowMs) / 60_000);
  if (minutes < 0) return "none: it expires now";
  return minutes === 0 ? "less than a minute" : `${minutes} minute${minutes === 1 ? "" : "s"}`;
}
