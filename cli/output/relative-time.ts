const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

const steps = [
  ["year", 31_557_600_000],
  ["month", 2_629_800_000],
  ["week", 604_800_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** `3 hours ago`, `in 2 days`, `just now`; undefined for anything but an RFC 3339 time. */
export function relativeTime(value: string, nowMs: number): string | undefined {
  if (!instant.test(value)) return undefined;
  const distance = Date.parse(value) - nowMs;
  if (Number.isNaN(distance)) return undefined;
  for (const [unit, ms] of steps) {
    const count = Math.round(Math.abs(distance) / ms);
    if (Math.abs(distance) < ms || count === 0) continue;
    const text = `${count} ${unit}${count === 1 ? "" : "s"}`;
    return distance < 0 ? `${text} ago` : `in ${text}`;
  }
  return "just now";
}
