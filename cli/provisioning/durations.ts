const units: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** Milliseconds of `90m`, `12h`, `30d` or `4w`, a plus before it or not; undefined for anything else. */
export function parseDurationMs(text: string): number | undefined {
  const match = /^\+?([1-9]\d{0,6})([mhdw])$/.exec(text.trim());
  return match ? Number(match[1]) * (units[match[2] as string] as number) : undefined;
}

/** `30d`, `12h` or `90m`: in the largest unit that it is a whole number of. */
export function durationOf(ms: number): string {
  const unit = ["d", "h"].find((one) => ms % (units[one] as number) === 0) ?? "m";
  return `${Math.round(ms / (units[unit] as number))}${unit}`;
}

/**
 * A date, or a date and time with offset, as ISO-8601 UTC with milliseconds; undefined where no calendar has it.
 * A date is its first moment in UTC.
 */
export function parseInstant(text: string): string | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})(T.*)?$/.exec(text.trim());
  if (!match) return undefined;
  const day = new Date(`${match[1]}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(match[1] as string)) return undefined;
  const instant = new Date(text.trim());
  return Number.isNaN(instant.getTime()) ? undefined : instant.toISOString();
}

/** The end of a key: a time from its creation, or an instant. A day that no calendar has stays as it is written. */
export function parseExpiry(text: string): { readonly expiresInMs: number } | { readonly expiresAt: string } {
  const expiresInMs = parseDurationMs(text);
  return expiresInMs === undefined ? { expiresAt: parseInstant(text) ?? text.trim() } : { expiresInMs };
}
