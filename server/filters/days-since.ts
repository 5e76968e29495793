import type { Expression, SqlBool } from "kysely";
import { DAY_MS } from "#contract/core/filters/moments";
import { type Asked, bound } from "./compare.ts";
import type { Context } from "./context.ts";

/**
 * Compares the days since a time, with their fractions, by the moment that lies so many days ago: an index on the time
 * serves it, and both databases mean the same to the millisecond.
 */
export function compareDaysSince(at: Context, of: Expression<never>, { operator, value }: Asked): Expression<SqlBool> {
  const { eb, nowMs } = at;
  if (operator === "isNull") return eb(of, "is", null);
  if (operator === "isNotNull") return eb(of, "is not", null);
  const before = (ms: number) => bound(at, of, "<", ms);
  const from = (ms: number) => bound(at, of, ">=", ms);
  if (operator === "between") {
    const range = value as { from: number; to: number };
    return eb.and([from(firstAtMost(nowMs, range.to)), before(firstBelow(nowMs, range.from))]);
  }
  const days = value as number;
  if (operator === "greaterThan") return before(firstAtMost(nowMs, days));
  if (operator === "greaterThanOrEquals") return before(firstBelow(nowMs, days));
  if (operator === "lessThan") return from(firstBelow(nowMs, days));
  if (operator === "lessThanOrEquals") return from(firstAtMost(nowMs, days));
  if (operator === "equals") return eb.and([from(firstAtMost(nowMs, days)), before(firstBelow(nowMs, days))]);
  return eb.or([before(firstAtMost(nowMs, days)), from(firstBelow(nowMs, days))]);
}

/** The first millisecond since which no more than so many days have passed, and the first since which fewer have. */
const firstAtMost = (nowMs: number, days: number) => first(nowMs, days, (passed) => passed <= days);
const firstBelow = (nowMs: number, days: number) => first(nowMs, days, (passed) => passed < days);

/** As far as rounding may lead astray. */
const ASTRAY_MS = 3;

function first(nowMs: number, days: number, holds: (passed: number) => boolean): number {
  const near = Math.floor(nowMs - days * DAY_MS);
  for (let ms = near - ASTRAY_MS; ms < near + ASTRAY_MS; ms += 1) if (holds((nowMs - ms) / DAY_MS)) return ms;
  return near + ASTRAY_MS;
}
