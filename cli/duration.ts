import { usageError } from "./errors/cli-error.ts";

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Milliseconds of `90s`, `10m`, `1h30m`, `30d`; a bare number is seconds. `flag` is named when it is neither. */
export function parseDuration(text: string, flag: string): number {
  const trimmed = text.trim();
  if (/^\d+$/.test(trimmed)) return Number(trimmed) * 1000;
  if (!/^(\d+(?:\.\d+)?(ms|s|m|h|d|w))+$/.test(trimmed)) {
    throw usageError(`${flag} must be a duration such as 90s, 10m, 1h or 30d`);
  }
  return [...trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g)].reduce(
    (total, [, amount, unit]) => total + Number(amount) * units[unit!]!,
    0,
  );
}
