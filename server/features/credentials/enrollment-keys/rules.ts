import type { Json } from "#server/db/column-types";

const MINUTE_MS = 60_000;
const LAST_MOMENT_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** The organization's cap `settings.enrollment.maxTtlMinutes`; anything but a positive number is no cap. */
export function ttlCapMinutes(settings: Json): number | undefined {
  const cap = (settings["enrollment"] as { maxTtlMinutes?: unknown } | null | undefined)?.maxTtlMinutes;
  return typeof cap === "number" && Number.isFinite(cap) && cap > 0 ? cap : undefined;
}

export type ExpiryDecision =
  | { expiresAt: string }
  | { refused: "past" }
  | { refused: "TTL_EXCEEDS_CAP"; maxTtlMinutes: number };

/**
 * When a key ends: the requested time if the cap allows it, else the default cut by the cap
 * (docs/credentials.md, "End of an enrollment key").
 */
export function decideExpiry(given: {
  nowMs: number;
  expiresAt: string | undefined;
  defaultTtlMinutes: number;
  capMinutes: number | undefined;
}): ExpiryDecision {
  const { nowMs, expiresAt, defaultTtlMinutes, capMinutes } = given;
  if (expiresAt === undefined) {
    const minutes = Math.min(defaultTtlMinutes, capMinutes ?? Number.POSITIVE_INFINITY);
    return { expiresAt: new Date(Math.min(nowMs + minutes * MINUTE_MS, LAST_MOMENT_MS)).toISOString() };
  }
  const wantedMs = Date.parse(expiresAt);
  if (wantedMs <= nowMs) return { refused: "past" };
  if (capMinutes !== undefined && wantedMs - nowMs > capMinutes * MINUTE_MS) {
    return { refused: "TTL_EXCEEDS_CAP", maxTtlMinutes: capMinutes };
  }
  return { expiresAt };
}
