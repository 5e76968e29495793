import type { z } from "zod";
import { type Io, type JsonSchema, markedSchemaOf, walkSchema } from "./json-schema.ts";

/** Shared shapes by the name under which the document has them. */
export type Components = Map<string, JsonSchema>;

/**
 * Describes a schema with `$ref` in place of every shared shape, whose own description is added to `components`. A
 * shape that reads differently as input has a second component, `…Input`.
 */
export function referenced(schema: z.ZodType, io: Io, components: Components): JsonSchema {
  const described = { root: markedSchemaOf(schema, io) };
  walkSchema(described as unknown as JsonSchema, (node) => {
    for (const [key, value] of Object.entries(node)) {
      node[key] = Array.isArray(value)
        ? value.map((one) => hoisted(one, io, components))
        : hoisted(value, io, components);
    }
  });
  return described.root;
}

function hoisted(value: unknown, io: Io, components: Components): unknown {
  const { "x-component": name, ...shape } = (value ?? {}) as JsonSchema;
  if (typeof name !== "string") return value;
  for (const candidate of [name, `${name}${io === "input" ? "Input" : "Output"}`]) {
    const known = components.get(candidate);
    if (known === undefined) components.set(candidate, shape);
    else if (JSON.stringify(known) !== JSON.stringify(shape)) continue;
    return { $ref: `#/components/schemas/${candidate}` };
  }
  throw new Error(`two shapes of the contract are named ${name}`);
}
