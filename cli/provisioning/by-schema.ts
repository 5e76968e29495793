import type { JsonStep } from "#contract/core/exact-json";
import { type Inexact, jsonAsWritten, textAsWritten, Written } from "../input/written.ts";
import type { Schema } from "./schema.ts";

/** A value of a file as its schema types it: text as it is written, everything else in the types of JSON. */
export function bySchema(schema: Schema, value: unknown, inexact: Inexact, steps: readonly JsonStep[] = []): unknown {
  if (value instanceof Written) return isText(schema) ? textAsWritten(value) : jsonAsWritten(value, inexact, steps);
  if (Array.isArray(value))
    return value.map((one, index) => bySchema(schema.items ?? {}, one, inexact, [...steps, index]));
  if (typeof value !== "object" || value === null) return value;
  const { properties = {}, aliases = {} } = schema;
  const of = (key: string): Schema => properties[Object.hasOwn(aliases, key) ? (aliases[key] as string) : key] ?? {};
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      bySchema(Object.hasOwn(properties, key) || Object.hasOwn(aliases, key) ? of(key) : {}, one, inexact, [
        ...steps,
        key,
      ]),
    ]),
  );
}

const isText = ({ type, asWritten = false, const: constant }: Schema): boolean =>
  asWritten || constant !== undefined || [type].flat().includes("string");
