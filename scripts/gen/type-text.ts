import { alternatives, type JsonSchema } from "#contract/json-schema";

/** Whether fields may be left out as `undefined`, and how text is spelled: a body, an answer, or a query string. */
export type Place = "input" | "output" | "query";

/** TypeScript of a schema; `$ref` names an interface of `sdk/generated/models`. */
export function typeText(schema: JsonSchema, place: Place, indent = ""): string {
  const { $ref, anyOf, oneOf, type } = schema;
  if (typeof $ref === "string") return $ref.split("/").at(-1) as string;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
  const several = anyOf ?? oneOf ?? (Array.isArray(type) ? type.map((one) => ({ ...schema, type: one })) : undefined);
  if (several !== undefined) return union(several.map((one) => typeText(one, place, indent)));
  if (type === "array") return `${grouped(typeText(schema.items ?? {}, place, indent))}[]`;
  if (type === "object") return objectText(schema, place, indent);
  return place === "query" ? queryText(schema) : (plain[type as string] ?? "unknown");
}

const plain: Record<string, string> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
};

/** A query value as a caller may write it: it becomes text on the way. */
function queryText({ type, format, "x-ref": ref }: JsonSchema): string {
  if (type === "integer" || type === "number") return "number | string";
  if (type === "boolean") return 'boolean | "true" | "false"';
  if (format === "date-time") return "string | Date";
  return ref !== undefined && format === undefined ? "string | readonly string[]" : "string";
}

const union = (parts: readonly string[]): string => [...new Set(parts)].join(" | ");
const grouped = (text: string): string => (/ \| /.test(text) ? `(${text})` : text);

function objectText(schema: JsonSchema, place: Place, indent: string): string {
  const { properties = {}, additionalProperties: more } = schema;
  const open = more !== undefined && more !== false && place !== "query";
  const rest = open ? typeText(more === true ? {} : (more as JsonSchema), place, indent) : undefined;
  if (Object.keys(properties).length === 0) return `Record<string, ${rest ?? "unknown"}>`;
  const fields = fieldLines(schema, place, `${indent}  `);
  const others = rest === undefined ? [] : [`${indent}  [key: string]: unknown;`];
  return ["{", ...fields, ...others, `${indent}}`].join("\n");
}

/** The fields of an object, each with what a caller must know of it. */
export function fieldLines({ properties = {}, required = [] }: JsonSchema, place: Place, indent: string): string[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const optional = !required.includes(name);
    const type = typeText(field, place, indent);
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    const about = fieldDoc(field);
    return [
      ...(about === "" ? [] : [`${indent}/** ${about} */`]),
      `${indent}${key}${optional ? "?" : ""}: ${type}${optional && place !== "output" ? " | undefined" : ""};`,
    ];
  });
}

/** Meaning, limits and default of a field in one line; empty where its name and type say all. */
export function fieldDoc(schema: JsonSchema): string {
  const main = alternatives(schema).find(({ type }) => type !== "null") ?? schema;
  const facts = [
    schema.description ?? main.description,
    main["x-secret"] || schema["x-secret"] ? "secret" : undefined,
    refDoc(main),
    formats[main["format"] as string],
    limits(main, "Length", "characters"),
    limits(main, "Items", "items"),
    range(main["minimum"], main["maximum"], ""),
    main["pattern"] === undefined ? undefined : `matches \`${main["pattern"]}\``,
    schema.default === undefined ? undefined : `default \`${JSON.stringify(schema.default)}\``,
  ];
  const text = facts
    .filter((fact) => fact !== undefined && fact !== "")
    .join("; ")
    .replaceAll("*/", "*\\/");
  return text === "" ? "" : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const formats: Record<string, string> = {
  "date-time": "date and time (RFC 3339)",
  email: "email address",
  uri: "web address",
};

function refDoc(schema: JsonSchema): string | undefined {
  const ref = schema["x-ref"]?.replaceAll("-", " ");
  if (ref === undefined) return schema["format"] === "uuid" ? "uuid" : undefined;
  const one = `${/^[aeiou]/.test(ref) ? "an" : "a"} ${ref}`;
  return schema["format"] === "uuid" ? `id of ${one}` : `ids, each of ${one}`;
}

const limits = (schema: JsonSchema, what: "Length" | "Items", unit: string) =>
  range(schema[`min${what}`], schema[`max${what}`], ` ${unit}`);

function range(min: unknown, max: unknown, unit: string): string | undefined {
  const from = typeof min === "number" && min > Number.MIN_SAFE_INTEGER ? min : undefined;
  const to = typeof max === "number" && max < Number.MAX_SAFE_INTEGER ? max : undefined;
  if (from === undefined) return to === undefined ? undefined : `at most ${to}${unit}`;
  return to === undefined ? `at least ${from}${unit}` : `${from} to ${to}${unit}`;
}
