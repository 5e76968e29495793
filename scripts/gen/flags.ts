import type { FlagSpec, FlagType } from "#cli/manifest";
import { alternatives, type JsonSchema } from "#contract/json-schema";
import { sampleOf, shapeOf } from "./json-shape.ts";
import { kebab } from "./text.ts";

/** Flags for the top-level fields of a query or a body. */
export function flagsOf(schema: JsonSchema | undefined): FlagSpec[] {
  return Object.entries(schema?.properties ?? {}).map(([name, field]) =>
    flag(name, field, (schema?.required ?? []).includes(name)),
  );
}

function flag(name: string, field: JsonSchema, required: boolean): FlagSpec {
  const { filled, nullable } = withoutNull(field);
  const named = filled.find((one) => refOf(one) !== undefined);
  const first = named ?? filled[0] ?? {};
  const item = first.items === undefined ? undefined : withoutNull(first.items).filled[0];
  const values = filled.length === 1 ? valuesOf(first) : undefined;
  const itemValues = item && valuesOf(item);
  return {
    name,
    flag: kebab(name),
    type: values === undefined ? typeOf(filled) : "enum",
    ...present({ values, itemType: item && (itemValues === undefined ? typeOf([item]) : "enum"), itemValues }),
    required,
    nullable,
    secret: field["x-secret"] === true || filled.some((one) => one["x-secret"] === true),
    ...present({
      description: descriptionOf(field),
      ...(isMixed(filled)
        ? { shape: filled.map(shapeOf).join("|"), example: JSON.stringify(sampleOf(first)) }
        : exampleOf(field, typeOf(filled) === "array" ? (first.items ?? {}) : first, item ?? first)),
      default: field.default,
      minimum: first["minimum"] as number | undefined,
      maximum: first["maximum"] as number | undefined,
      maxLength: first["maxLength"] as number | undefined,
      format: first["format"] as string | undefined,
      ref: named && refOf(named),
      words: named && wordsBeside(named, filled),
    }),
  };
}

/** Several plain types, such as text or a number: its flag takes JSON, so that one can tell them apart. */
const isMixed = (filled: JsonSchema[]): boolean =>
  typeOf(filled) === "object" && filled.length > 1 && filled.every(({ type }) => type !== "object");

/** What the contract says of the field itself, or of what it is where it is not null. */
export const descriptionOf = (field: JsonSchema): string | undefined => said<string>(field, "description");

const said = <T>(field: JsonSchema, keyword: string): T | undefined =>
  (field[keyword] ?? alternatives(field).find((one) => one[keyword] !== undefined)?.[keyword]) as T | undefined;

/** A value that the contract gives, or one that its schema takes; of JSON also what it may say. */
function exampleOf(field: JsonSchema, schema: JsonSchema, filled: JsonSchema): { shape?: string; example?: string } {
  const [given] = said<unknown[]>(field, "examples") ?? said<unknown[]>(schema, "examples") ?? [];
  if (typeOf([filled]) === "object")
    return { shape: shapeOf(schema), example: JSON.stringify(given ?? sampleOf(schema)) };
  return typeof given === "string" ? { example: given } : {};
}

/** The kind of row that an id, or each id of a list, names. */
const refOf = (field: JsonSchema): JsonSchema["x-ref"] =>
  field["x-ref"] ?? (field.items && alternatives(field.items).find((item) => item["x-ref"] !== undefined)?.["x-ref"]);

/** Words that a field accepts besides ids: `none`. */
function wordsBeside(named: JsonSchema, filled: readonly JsonSchema[]): string[] | undefined {
  const words = filled.flatMap((one) => (one === named ? [] : (valuesOf(one) ?? [])));
  return words.length === 0 ? undefined : words;
}

/** The alternatives that are not null, and whether null was one of them. */
function withoutNull(field: JsonSchema): { filled: JsonSchema[]; nullable: boolean } {
  const all = alternatives(field);
  const filled = all
    .filter((one) => one.type !== "null")
    .map((one) => (Array.isArray(one.type) ? { ...one, type: one.type.find((type) => type !== "null") } : one));
  const nullable =
    filled.length < all.length || all.some((one) => Array.isArray(one.type) && one.type.includes("null"));
  return { filled, nullable };
}

function valuesOf(field: JsonSchema): string[] | undefined {
  const values = field.enum ?? (typeof field.const === "string" ? [field.const] : undefined);
  return values?.every((value) => typeof value === "string") ? values : undefined;
}

const plainTypes: readonly string[] = ["string", "integer", "number", "boolean", "array", "object"];

function typeOf(filled: JsonSchema[]): FlagType {
  const types = new Set(filled.map((one) => one.type));
  const [only] = types;
  if (types.size === 1 && typeof only === "string" && plainTypes.includes(only)) return only as FlagType;
  return types.size > 1 && [...types].every((type) => type === "string") ? "string" : "object";
}

/** Leaves out what is undefined, so that the generated text stays short. */
function present<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
