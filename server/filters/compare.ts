import type { Expression, SqlBool } from "kysely";
import type { FilterCondition, FilterSpan } from "#contract/core/filters/condition";
import { type FilterFieldName, fieldNamed } from "#contract/core/filters/fields";
import { beginOf, DAY_MS, type Moment } from "#contract/core/filters/moments";
import type { FilterOperator } from "#contract/core/filters/operators";
import { readValue, type TypedValue } from "#contract/core/filters/read-value";
import { hasText, isFound, isOneOf, numberLike, type Place } from "#server/db/dialect/filter-values";
import type { Context } from "./context.ts";

/** What a condition is about: a column, or what was made of one. Null where nothing is known. */
export interface Operand {
  readonly type: "string" | "number" | "boolean" | "datetime";
  readonly of: Expression<never>;
  /** The same text without case, where a column has it: an index has it too. */
  readonly key?: Expression<never>;
}

export interface Asked {
  readonly operator: FilterOperator;
  readonly value: TypedValue;
}

/** What a condition asks of a field of ours. The filter was checked. */
export function readField({ field, operator, value }: FilterCondition): Asked & Pick<Operand, "type"> {
  const known = fieldNamed(field as FilterFieldName);
  const read = readValue(known, operator, value);
  if (!("value" in read)) throw new Error(`an unchecked condition on ${field}`);
  return { operator, value: read.value, type: known.type as Operand["type"] };
}

/** The condition, which is null or false where the operand is null (docs/filters.md, "Missing values"). */
export function compare(at: Context, { type, of, key }: Operand, { operator, value }: Asked): Expression<SqlBool> {
  if (operator === "isNull") return at.eb(of, "is", null);
  if (operator === "isNotNull") return at.eb(of, "is not", null);
  if (type === "string") return compareTexts(at, { of, key }, operator, value as string);
  if (type === "number") return compareNumbers(at, of, operator, value as number);
  if (type === "datetime") return compareMoments(at, of, operator, value);
  return at.eb(of, operator === "equals" ? "=" : "<>", value as never);
}

type Of = Expression<never>;

function compareTexts(
  at: Context,
  { of, key }: Pick<Operand, "of" | "key">,
  operator: FilterOperator,
  value: string,
): Expression<SqlBool> {
  const { eb, dialect } = at;
  const has = (place: Place) => hasText(key ?? of, value, place, { dialect, isKey: key !== undefined });
  switch (operator) {
    case "equals":
      return eb(of, "=", value as never);
    case "notEquals":
      return eb(of, "<>", value as never);
    case "contains":
      return has("anywhere");
    case "notContains":
      return eb.not(has("anywhere"));
    case "startsWith":
      return has("start");
    case "endsWith":
      return has("end");
    case "matches":
      return isFound(of, value, dialect);
    case "notIn":
      return eb.not(isOneOf(of, value as unknown as string[], dialect));
    default:
      return isOneOf(of, value as unknown as string[], dialect);
  }
}

const signs = {
  equals: "=",
  notEquals: "<>",
  greaterThan: ">",
  greaterThanOrEquals: ">=",
  lessThan: "<",
  lessThanOrEquals: "<=",
} as const;

interface Range {
  readonly from: number;
  readonly to: number;
}

function compareNumbers(at: Context, of: Of, operator: FilterOperator, value: number): Expression<SqlBool> {
  const like = (number: number) => numberLike(number, at.dialect) as never;
  if (operator !== "between") return at.eb(of, signs[operator as "equals"], like(value));
  const { from, to } = value as unknown as Range;
  return at.eb.and([at.eb(of, ">=", like(from)), at.eb(of, "<=", like(to))]);
}

function compareMoments(at: Context, of: Of, operator: FilterOperator, value: TypedValue): Expression<SqlBool> {
  const { eb, nowMs } = at;
  const during = ({ from, to }: Range) => eb.and([bound(at, of, ">=", from), bound(at, of, "<=", to)]);
  const outside = ({ from, to }: Range) => eb.or([bound(at, of, "<", from), bound(at, of, ">", to)]);
  if (operator === "between") return during(value as Range);
  if (operator === "withinLast") return during({ from: beginOf(value as FilterSpan, nowMs), to: nowMs });
  if (operator === "notWithinLast") return outside({ from: beginOf(value as FilterSpan, nowMs), to: nowMs });
  const { ms, isDay } = value as Moment;
  const whole = { from: ms, to: isDay ? ms + DAY_MS - 1 : ms };
  if (operator === "equals") return during(whole);
  if (operator === "notEquals") return outside(whole);
  if (operator === "before") return bound(at, of, "<", ms);
  if (operator === "after") return bound(at, of, ">", ms);
  return bound(at, of, signs[operator as "greaterThan"], ms);
}

const FIRST_MS = Date.parse("0001-01-01T00:00:00.000Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Compares a time with a moment, which may lie where databases know no time. */
export function bound(at: Context, of: Of, sign: "<" | "<=" | ">" | ">=", ms: number): Expression<SqlBool> {
  if (ms >= FIRST_MS && ms <= LAST_MS) return at.eb(of, sign, new Date(ms).toISOString() as never);
  const isAll = ms < FIRST_MS ? sign.startsWith(">") : sign.startsWith("<");
  return isAll ? at.eb(of, "is not", null) : at.eb.lit(false);
}
