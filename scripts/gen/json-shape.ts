import { alternatives, type JsonSchema } from "#contract/json-schema";

const filled = (schema: JsonSchema): JsonSchema => alternatives(schema).find(({ type }) => type !== "null") ?? {};
const typeOf = ({ type }: JsonSchema): string =>
  (Array.isArray(type) ? type.find((one) => one !== "null") : type) ?? "value";
const words: Readonly<Record<string, string>> = { string: "text", integer: "number", boolean: "true|false" };
const FEW = 5;

/** What a JSON value may say, on one line: `{email: text, groups?: text}`. Fields that may be left out have a `?`. */
export function shapeOf(schema: JsonSchema): string {
  const one = filled(schema);
  const values = one.enum ?? (one.const === undefined ? undefined : [one.const]);
  if (values !== undefined) return values.slice(0, FEW).join("|");
  if (typeOf(one) === "array") return `[${shapeOf(one.items ?? {})}]`;
  if (typeOf(one) !== "object") return words[typeOf(one)] ?? typeOf(one);
  if (one.properties === undefined) return "{name: value, …}";
  const fields = Object.entries(one.properties).map(([name, field]) => {
    const mark = one.required?.includes(name) ? "" : "?";
    const inner = filled(field);
    return `${name}${mark}: ${inner.properties ? "{…}" : shapeOf(field)}`;
  });
  return `{${fields.join(", ")}}`;
}

/** A value that the schema takes: what is required, and the first field where nothing is. */
export function sampleOf(schema: JsonSchema): unknown {
  const one = filled(schema);
  const [value] = one.enum ?? (one.const === undefined ? [] : [one.const]);
  if (value !== undefined) return value;
  if (typeOf(one) === "array") return [sampleOf(one.items ?? {})];
  if (typeOf(one) === "boolean") return true;
  if (typeOf(one) === "integer" || typeOf(one) === "number") return Math.max(Number(one["minimum"] ?? 0), 1);
  if (typeOf(one) !== "object") return one["format"] === "date-time" ? "2026-01-31T09:00:00.000Z" : "text";
  const required = one.required ?? Object.keys(one.properties ?? {}).slice(0, 1);
  return Object.fromEntries(required.map((name) => [name, sampleOf(one.properties?.[name] ?? {})]));
}
