import { invisibleIn } from "#contract/core/characters";
import { didYouMean } from "#contract/core/suggest";
import type { Schema, SchemaType } from "./schema.ts";

/** A step into a value: a key or an index. */
export type Step = string | number;
export interface Violation {
  readonly steps: readonly Step[];
  readonly message: string;
}

/** Every violation of the schema, in the order of the value. */
export function checkSchema(schema: Schema, value: unknown, steps: readonly Step[] = []): Violation[] {
  const types = typesOf(schema);
  const type = typeOf(value);
  if (value === "" && types.includes("null") && !types.includes("string")) return []; // "" clears like null
  if (types.length > 0 && !(types as readonly string[]).includes(type)) return [{ steps, message: wrongType(types) }];
  if (type === "string") return checkText(schema, value as string).map((message) => ({ steps, message }));
  if (type === "integer") return checkNumber(schema, value as number).map((message) => ({ steps, message }));
  if (type === "array") return checkList(schema, value as unknown[], steps);
  return type === "object" ? checkObject(schema, value as Record<string, unknown>, steps) : [];
}

/** `organizations[2].sites[0].name`. */
export const pathText = (steps: readonly Step[]): string =>
  steps.map((step, at) => (typeof step === "number" ? `[${step}]` : at === 0 ? step : `.${step}`)).join("");

const typesOf = ({ type }: Schema): readonly SchemaType[] =>
  type === undefined ? [] : typeof type === "string" ? [type] : type;

type ValueType = SchemaType | "number";

function typeOf(value: unknown): ValueType {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isSafeInteger(value) ? "integer" : "number";
  return typeof value === "boolean" ? "boolean" : typeof value === "object" ? "object" : "string";
}

const typeNames: Record<SchemaType, string> = {
  string: "text",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  null: "null",
};

const wrongType = (types: readonly SchemaType[]): string =>
  `must be ${types.map((type) => typeNames[type]).join(" or ")}`;

function checkText(schema: Schema, value: string): string[] {
  const { const: constant, enum: values, pattern, minLength = 0, maxLength } = schema;
  const length = [...value.trim()].length;
  if (constant !== undefined && value !== constant) return [`must be ${constant}`];
  if (values && !values.includes(value)) return [`must be one of ${values.join(", ")}${didYouMean(value, values)}`];
  if (length < minLength) return ["must not be blank"];
  if (maxLength !== undefined && length > maxLength) return [`must have at most ${maxLength} characters`];
  if (value.includes("\u0000") || !value.isWellFormed()) return ["must be well-formed text"];
  const hidden = invisibleIn(value);
  if (hidden !== undefined) return [`must not hold ${hidden}, which nobody can see`];
  if (pattern !== undefined && !new RegExp(pattern).test(value)) return [schema.patternMessage ?? "has the wrong form"];
  return [];
}

function checkNumber({ minimum, maximum }: Schema, value: number): string[] {
  if (minimum !== undefined && value < minimum) return [`must be at least ${minimum}`];
  return maximum !== undefined && value > maximum ? [`must be at most ${maximum}`] : [];
}

function checkList({ items, maxItems }: Schema, value: readonly unknown[], steps: readonly Step[]): Violation[] {
  const tooMany = maxItems !== undefined && value.length > maxItems;
  return [
    ...(tooMany ? [{ steps, message: `must have at most ${maxItems} entries` }] : []),
    ...(items ? value.flatMap((item, at) => checkSchema(items, item, [...steps, at])) : []),
  ];
}

function checkObject(schema: Schema, value: Record<string, unknown>, steps: readonly Step[]): Violation[] {
  const { properties = {}, required = [], additionalProperties = true, aliases = {} } = schema;
  const missing = required.filter((key) => value[key] === undefined || value[key] === null);
  const known = Object.keys(properties);
  return [
    ...missing.map((key) => ({ steps, message: `${key} is missing` })),
    ...Object.entries(aliases).flatMap(([alias, name]) =>
      differ(value[alias], value[name])
        ? [{ steps: [...steps, alias], message: `must be the same as ${name}, whose other name it is` }]
        : [],
    ),
    ...Object.entries(value).flatMap(([key, item]) => {
      if (missing.includes(key)) return [];
      const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (property) return checkSchema(property, item, [...steps, key]);
      return additionalProperties
        ? []
        : [{ steps: [...steps, key], message: `is not a known key${didYouMean(key, known)}` }];
    }),
  ];
}

const isBlank = (value: unknown): boolean => value === undefined || value === null || value === "";

/** What is blank says nothing. */
const differ = (one: unknown, other: unknown): boolean =>
  !isBlank(one) && !isBlank(other) && JSON.stringify(one) !== JSON.stringify(other);
