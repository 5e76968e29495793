import type { FilterSpan } from "./condition.ts";

/** A moment in milliseconds; one written as a day stands for the whole day in UTC. */
export interface Moment {
  readonly ms: number;
  readonly isDay: boolean;
}

export const DAY_MS = 86_400_000;

const written =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(Z|[+-](?:0\d|1[0-5]):?[0-5]\d)?)?$/i;
const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
const END_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Reads an ISO date, or a date and time; one without an offset is UTC, on whichever machine. */
export function momentOf(text: string): Moment | undefined {
  const found = written.exec(text);
  if (!found) return undefined;
  const [, year, month, day, offset] = found;
  // Date.parse would move the 30th of February to March.
  const midnight = new Date(0);
  midnight.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (midnight.getUTCMonth() !== Number(month) - 1 || midnight.getUTCDate() !== Number(day)) return undefined;
  const isDay = text.length === 10;
  const ms = Date.parse(isDay || offset !== undefined ? text.toUpperCase() : `${text.toUpperCase()}Z`);
  return ms >= FIRST_MS && ms <= END_MS ? { ms, isDay } : undefined;
}

const lengths = { minutes: 60_000, hours: 3_600_000, days: DAY_MS, weeks: 7 * DAY_MS } as const;

/** When a span that ends now began; months are those of the calendar in UTC, a day that is missing is the month's last. */
export function beginOf({ amount, unit }: FilterSpan, nowMs: number): number {
  if (unit !== "months") return nowMs - amount * lengths[unit];
  const begin = new Date(nowMs);
  const day = begin.getUTCDate();
  begin.setUTCDate(1);
  begin.setUTCMonth(begin.getUTCMonth() - amount);
  const last = new Date(begin);
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  begin.setUTCDate(Math.min(day, last.getUTCDate()));
  return begin.getTime();
}
