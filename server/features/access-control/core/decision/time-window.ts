import type { TimeWindow } from "#contract/core/pam-words";

/**
 * Whether an instant lies in the window (docs/privileged-access.md, "Time windows"): start inclusive, end exclusive, and a
 * window over midnight is of the day on which it starts. A zone or time that cannot be read throws.
 */
export const isWithin = (window: TimeWindow, at: Date): boolean => readWindow(window)(at);

/** The window, ready to be asked. */
export function readWindow(window: TimeWindow): (at: Date) => boolean {
  const clock = clockOf(window.timezone ?? "UTC");
  const start = minuteOf(window.start);
  const end = minuteOf(window.end);
  return (at) => holdsAt({ start, end, days: window.days }, wallClock(clock, at));
}

interface Minutes {
  readonly start: number;
  readonly end: number;
  readonly days: readonly number[] | undefined;
}

function holdsAt({ start, end, days }: Minutes, { day, minute }: { day: number; minute: number }): boolean {
  const isOn = (one: number) => days === undefined || days.includes(one);
  if (start === end) return isOn(day);
  if (start < end) return minute >= start && minute < end && isOn(day);
  if (minute >= start) return isOn(day);
  return minute < end && isOn((day + 6) % 7);
}

function minuteOf(time: string): number {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time) ?? [];
  if (hours === undefined || minutes === undefined) throw new Error(`no time of day: ${time}`);
  return Number(hours) * 60 + Number(minutes);
}

const dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** Day and minute as a clock on the wall shows them: what summer time leaves out is never shown, what it repeats is shown twice. */
function wallClock(clock: Intl.DateTimeFormat, at: Date): { day: number; minute: number } {
  const parts = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, value]));
  return { day: dayNames.indexOf(parts.weekday ?? ""), minute: Number(parts.hour) * 60 + Number(parts.minute) };
}

/** Making one takes a tenth of a millisecond; names are the zones of rules, which are not many. */
const clocks = new Map<string, Intl.DateTimeFormat>();
const CLOCKS_MAX = 500;

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  if (clocks.size < CLOCKS_MAX) clocks.set(timeZone, made);
  return made;
}
