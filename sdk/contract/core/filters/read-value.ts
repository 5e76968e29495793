import { parsePattern } from "../patterns/parse-pattern.ts";
import { didYouMean } from "../suggest.ts";
import { type FilterSpan, filterCaps } from "./condition.ts";
import type { Fault } from "./faults.ts";
import type { FilterField } from "./fields.ts";
import { DAY_MS, type Moment, momentOf } from "./moments.ts";
import { type FilterOperator, filterOperators, spanUnits } from "./operators.ts";

/** A value as its condition compares it; moments in milliseconds. */
export type TypedValue =
  | string
  | number
  | boolean
  | Moment
  | readonly string[]
  | { readonly from: number; readonly to: number }
  | FilterSpan
  | undefined;

export type ReadValue = { readonly value: TypedValue } | Fault;

/** What is compared, of all that a field may be. */
type Scalar = "string" | "number" | "boolean" | "datetime" | "enum" | "id";

const scalarOf: Readonly<Record<FilterField["type"], Scalar>> = {
  string: "string",
  number: "number",
  boolean: "boolean",
  datetime: "datetime",
  date: "datetime",
  enum: "enum",
  array: "string",
  capability: "boolean",
  id: "id",
  installed: "string",
  notInstalled: "string",
};

/** The value of a condition on such a field, or what is wrong with it (docs/filters.md, "Values"). */
export function readValue(
  field: Pick<FilterField, "type" | "values">,
  operator: FilterOperator,
  value: unknown,
): ReadValue {
  const shape = filterOperators[operator];
  if (shape === "none") return { value: undefined };
  if (value === undefined || value === null) return required(`${operator} needs a value`);
  const type = scalarOf[field.type];
  if (shape === "text") return text(value);
  if (shape === "pattern") return pattern(value);
  if (shape === "list") return list(value, operator, (item) => scalar(type, field.values, item));
  if (shape === "range") return range(value, type === "number" ? numberOf : undefined);
  if (shape === "span") return span(value);
  return scalar(type, field.values, value);
}

const mismatch = (message: string): Fault => ({ code: "FILTER_TYPE_MISMATCH", message });
const required = (message: string): Fault => ({ code: "FILTER_VALUE_REQUIRED", message });
const tooLarge = (message: string): Fault => ({ code: "FILTER_TOO_LARGE", message });

function text(value: unknown): ReadValue & ({ value: string } | Fault) {
  if (typeof value !== "string") return mismatch("the value must be a text");
  if (!value.isWellFormed() || value.includes("\u0000")) return mismatch("the value must be well-formed text");
  if (value.length > filterCaps.textLength && [...value].length > filterCaps.textLength)
    return tooLarge(`a value has at most ${filterCaps.textLength} characters`);
  return { value };
}

function pattern(value: unknown): ReadValue {
  if (typeof value !== "string") return mismatch("the value must be a pattern");
  if ([...value].length > filterCaps.patternLength)
    return tooLarge(`a pattern has at most ${filterCaps.patternLength} characters`);
  const read = text(value);
  if (!("value" in read)) return read;
  const parsed = parsePattern(value);
  if ("refused" in parsed) return { code: "FILTER_INVALID_REGEX", message: `the pattern ${parsed.refused}` };
  return read;
}

/** Each character is read once: a text of any length is judged at once. */
const numeric = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** A number, or the text of one. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === "string" && numeric.test(value.trim()) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

const booleans: Readonly<Record<string, boolean>> = { true: true, yes: true, false: false, no: false };

/** True, false, or the text of one. */
export function booleanOf(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  return typeof value === "string" && Object.hasOwn(booleans, value) ? booleans[value] : undefined;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MOMENT = "a date (2026-01-31) or a date and time (2026-01-31T08:00:00Z)";

function scalar(type: Scalar, values: readonly string[] | undefined, value: unknown): ReadValue {
  if (type === "string") return text(value);
  if (type === "number") return orMismatch(numberOf(value), "a number");
  if (type === "boolean") return orMismatch(booleanOf(value), "true or false");
  if (typeof value !== "string") return mismatch(`the value must be ${type === "datetime" ? MOMENT : "a text"}`);
  if (type === "datetime") return orMismatch(momentOf(value), MOMENT);
  if (type === "id") return uuid.test(value) ? { value: value.toLowerCase() } : mismatch("the value must be a uuid");
  if (values?.includes(value)) return { value };
  return mismatch(`the value must be one of ${values?.join(", ")}${didYouMean(value.slice(0, 50), values ?? [])}`);
}

const orMismatch = (value: TypedValue, what: string): ReadValue =>
  value === undefined ? mismatch(`the value must be ${what}`) : { value };

/** None of nothing would be everything: such a list is refused. */
const needsElements: ReadonlySet<FilterOperator> = new Set(["notIn", "hasAll"]);

function list(value: unknown, operator: FilterOperator, read: (item: unknown) => ReadValue): ReadValue {
  if (!Array.isArray(value)) return mismatch("the value must be a list of texts");
  if (value.length === 0 && needsElements.has(operator)) return required(`${operator} needs a list with elements`);
  if (value.length > filterCaps.listValues) return tooLarge(`a list has at most ${filterCaps.listValues} values`);
  const values: string[] = [];
  for (const item of value) {
    const one = typeof item === "string" ? read(item) : mismatch("the value must be a list of texts");
    if (!("value" in one)) return one;
    values.push(one.value as string);
  }
  return { value: values };
}

function range(value: unknown, number: ((value: unknown) => number | undefined) | undefined): ReadValue {
  const read = partsOf(value, ["from", "to"], "{from, to}");
  if ("code" in read) return read;
  const { parts } = read;
  const what = number ? "numbers" : `each ${MOMENT}`;
  const [from, to] = number
    ? [number(parts["from"]), number(parts["to"])]
    : [boundOf(parts["from"], "from"), boundOf(parts["to"], "to")];
  if (from === undefined || to === undefined) return mismatch(`from and to must be ${what}`);
  return from > to ? mismatch("from lies behind to") : { value: { from, to } };
}

function boundOf(value: unknown, side: "from" | "to"): number | undefined {
  const moment = typeof value === "string" ? momentOf(value) : undefined;
  return moment && (moment.isDay && side === "to" ? moment.ms + DAY_MS - 1 : moment.ms);
}

const AMOUNT_MAX = 10_000;

function span(value: unknown): ReadValue {
  const read = partsOf(value, ["amount", "unit"], "{amount, unit}");
  if ("code" in read) return read;
  const { parts } = read;
  const amount = numberOf(parts["amount"]);
  if (amount === undefined || !Number.isInteger(amount) || amount < 1 || amount > AMOUNT_MAX)
    return mismatch(`amount must be a whole number from 1 to ${AMOUNT_MAX}`);
  const unit = spanUnits.find((one) => one === parts["unit"]);
  if (unit) return { value: { amount, unit } };
  const near = typeof parts["unit"] === "string" ? didYouMean(parts["unit"].slice(0, 50), spanUnits) : "";
  return mismatch(`unit must be one of ${spanUnits.join(", ")}${near}`);
}

function partsOf(value: unknown, keys: readonly string[], shape: string): { parts: Record<string, unknown> } | Fault {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return mismatch(`the value must be an object ${shape}`);
  const given = value as Record<string, unknown>;
  const missing = keys.find((key) => !Object.hasOwn(given, key) || given[key] === null);
  if (missing !== undefined) return required(`the value ${shape} needs ${missing}`);
  if (Object.keys(given).length > keys.length) return mismatch(`the value has nothing but ${keys.join(" and ")}`);
  return { parts: given };
}
