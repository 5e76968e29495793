/** The only source of time in domain code, so that every test can hold it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** ISO-8601 UTC with milliseconds. */
  now(): string;
}

export const systemClock: Clock = { nowMs: () => Date.now(), now: () => new Date().toISOString() };

/** A clock that stands still until a test moves it. */
export interface HeldClock extends Clock {
  advance(ms: number): void;
  set(iso: string): void;
}

export function heldClock(start: string): HeldClock {
  let ms = Date.parse(start);
  return {
    nowMs: () => ms,
    now: () => new Date(ms).toISOString(),
    advance(by) {
      ms += by;
    },
    set(iso) {
      ms = Date.parse(iso);
    },
  };
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The instant `ms` after another (negative = before), as ISO-8601. */
export const after = (iso: string, ms: number): string => new Date(Date.parse(iso) + ms).toISOString();
