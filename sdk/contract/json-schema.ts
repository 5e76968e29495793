import { z } from "zod";
import type { FieldMeta } from "./core/fields.ts";
import type { RefName } from "./core/generated/refs.ts";

/**
 * JSON Schema 2020-12 as the documents carry it; `x-secret` marks what must never be shown, `x-ref` says what an id
 * names: one id where the format is `uuid`, several with commas in a text without a format.
 */
export type JsonSchema = {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  description?: string;
  "x-secret"?: true;
  "x-ref"?: RefName;
  [keyword: string]: unknown;
};

export type Io = "input" | "output";

/** Describes what a client sends (`input`) or gets (`output`); what a schema publishes replaces what zod infers. */
export function jsonSchemaOf(schema: z.ZodType, io: Io): JsonSchema {
  const described = markedSchemaOf(schema, io);
  walkSchema(described, (node) => delete node["x-component"]);
  return described;
}

/** The same, with `x-component` on every shared shape. */
export function markedSchemaOf(schema: z.ZodType, io: Io): JsonSchema {
  const described = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      publish(jsonSchema as JsonSchema & FieldMeta);
      const { def } = zodSchema._zod;
      // zod leaves out the default of what reads its input into something else.
      if (def.type === "default") jsonSchema.default ??= (def as { defaultValue?: unknown }).defaultValue as never;
      // Clients must accept fields they do not know.
      if (io === "output" && def.type === "object") delete jsonSchema.additionalProperties;
    },
  }) as JsonSchema;
  delete described["$schema"];
  return described;
}

function publish(schema: JsonSchema & FieldMeta): void {
  const { published, secret, component, example } = schema;
  delete schema.component;
  delete schema.example;
  if (component !== undefined) schema["x-component"] = component;
  if (published !== undefined) {
    const { description, default: preset } = schema;
    for (const key of Object.keys(schema)) delete schema[key];
    if (description !== undefined) schema.description = description;
    if (preset !== undefined) schema.default = preset;
    Object.assign(schema, structuredClone(published));
  }
  if (example !== undefined) schema["examples"] = [example];
  delete schema.secret;
  delete schema.ref;
  if (secret === true) {
    schema["x-secret"] = true;
    if (schema.type === "string") schema["format"] = "password";
  }
}

/** Calls `visit` with every schema below one and then with the schema itself. */
export function walkSchema(schema: JsonSchema, visit: (node: JsonSchema) => void): void {
  for (const value of Object.values(schema)) {
    for (const one of Array.isArray(value) ? value : [value]) if (isNode(one)) walkSchema(one, visit);
  }
  visit(schema);
}

const isNode = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null;

const branches = (schema: JsonSchema): JsonSchema[] => schema.anyOf ?? schema.oneOf ?? [];

/** The alternatives of a schema, nested ones laid flat. */
export function alternatives(schema: JsonSchema): JsonSchema[] {
  const inner = branches(schema);
  return inner.length === 0 ? [schema] : inner.flatMap(alternatives);
}

/** Paths of the secret fields below a schema: `key`, `user.token`, `items[].secret`. */
export function secretPaths(schema: JsonSchema | undefined, path = ""): string[] {
  if (schema === undefined) return [];
  if (schema["x-secret"] === true) return [path];
  const below = [
    ...branches(schema).flatMap((branch) => secretPaths(branch, path)),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, child]) =>
      secretPaths(child, path === "" ? key : `${path}.${key}`),
    ),
    ...secretPaths(schema.items, `${path}[]`),
  ];
  return [...new Set(below)];
}
