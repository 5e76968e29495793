import { bound } from "#contract/core/fields";
import type { CustomValue } from "#contract/resources/fleet/custom-fields";
import type { CustomFieldsTable, FieldOptions } from "#server/db/tables/fleet";
import { readPattern } from "#server/platform/linear-pattern";

export type FieldType = CustomFieldsTable["type"]["__select__"];

/** What judges the values of a field. */
export interface FieldRules {
  readonly type: FieldType;
  readonly options: FieldOptions | null;
}

/** A value as it is stored, or why it is none of the field. */
export type Judged = { readonly value: CustomValue } | { readonly reason: string };

/** Reads a value by the type of its field, and judges it by the field's options (docs/fleet.md, "Custom values"). */
export function judge({ type, options }: FieldRules, given: CustomValue): Judged {
  if (type === "text") return text(given, options ?? {});
  if (type === "number") return number(given, options ?? {});
  if (type === "boolean") return boolean(given);
  if (type === "date") return date(given);
  const isChoice = options?.choices?.some(({ value }) => value === given);
  return isChoice ? { value: given } : { reason: "must be one of the choices" };
}

function text(given: CustomValue, { minLength = 0, maxLength = Infinity, pattern }: FieldOptions): Judged {
  if (typeof given !== "string") return { reason: "must be a text" };
  const length = [...given].length;
  if (length < minLength) return { reason: `must have at least ${minLength} characters` };
  if (length > maxLength) return { reason: `must have at most ${maxLength} characters` };
  if (pattern !== undefined && !covers(pattern, given)) return { reason: `must match ${pattern}` };
  return { value: given };
}

function covers(source: string, given: string): boolean {
  const pattern = readPattern(source);
  return "covers" in pattern && pattern.covers(given);
}

const numeric = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function number(given: CustomValue, { min = -Infinity, max = Infinity }: FieldOptions): Judged {
  const value = typeof given === "string" && numeric.test(given.trim()) ? Number(given) : given;
  if (typeof value !== "number" || !Number.isFinite(value)) return { reason: "must be a number" };
  if (value < min) return { reason: `must be at least ${min}` };
  if (value > max) return { reason: `must be at most ${max}` };
  return { value };
}

const booleans: Readonly<Record<string, boolean>> = { true: true, yes: true, false: false, no: false };

function boolean(given: CustomValue): Judged {
  const value = typeof given === "string" && Object.hasOwn(booleans, given) ? booleans[given] : given;
  return typeof value === "boolean" ? { value } : { reason: "must be true or false" };
}

const instants = bound("from");

/** A day stays a day; a time is kept in UTC, one without an offset counts as UTC. */
function date(given: CustomValue): Judged {
  const read = instants.safeParse(given);
  if (!read.success) return { reason: "must be a date (YYYY-MM-DD) or a date and time" };
  return { value: /T/.test(given as string) ? (read.data as string) : (given as string) };
}

export interface Definition extends FieldRules {
  readonly defaultValue: CustomValue | null;
}

const optionsOf: Readonly<Record<FieldType, readonly (keyof FieldOptions)[]>> = {
  text: ["minLength", "maxLength", "pattern"],
  number: ["min", "max"],
  boolean: [],
  date: [],
  dropdown: ["choices"],
};

/** What is wrong with a definition, by the path of its part. */
export function definitionIssues({ type, options, defaultValue }: Definition): { path: string; message: string }[] {
  const issues: { path: string; message: string }[] = [];
  const refuse = (path: string, why: string) => issues.push({ path, message: `${path}: ${why}` });
  const given = options ?? {};
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && !optionsOf[type].includes(name as keyof FieldOptions))
      refuse(`options.${name}`, `is no option of the type ${type}`);
  const choices = given.choices ?? [];
  if (type === "dropdown" && choices.length === 0) refuse("options.choices", "a dropdown needs at least one");
  if (new Set(choices.map(({ value }) => value)).size < choices.length) refuse("options.choices", "has a value twice");
  if ((given.min ?? -Infinity) > (given.max ?? Infinity)) refuse("options.min", "is more than max");
  if ((given.minLength ?? 0) > (given.maxLength ?? Infinity)) refuse("options.minLength", "is more than maxLength");
  const pattern = given.pattern === undefined ? undefined : readPattern(given.pattern);
  if (pattern && "refused" in pattern) refuse("options.pattern", pattern.refused);
  const judged = issues.length > 0 || defaultValue === null ? undefined : judge({ type, options }, defaultValue);
  if (judged && "reason" in judged) refuse("defaultValue", judged.reason);
  return issues;
}

/** The default as it is stored, of a definition without issues. */
export function storedDefault({ defaultValue, ...field }: Definition): string | null {
  const judged = defaultValue === null ? undefined : judge(field, defaultValue);
  return judged && "value" in judged ? JSON.stringify(judged.value) : null;
}
