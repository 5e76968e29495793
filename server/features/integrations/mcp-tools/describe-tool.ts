import { type ToolName, tools } from "#contract/core/tools";
import { type JsonSchema, jsonSchemaOf } from "#contract/json-schema";

interface Described {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean };
}

const described = new Map<ToolName, Described>();

/** A tool as clients show it. */
export function describeTool(name: ToolName): Described {
  const known = described.get(name);
  if (known) return known;
  const { description, reads, disrupts, input } = tools[name];
  const annotations = { readOnlyHint: reads, destructiveHint: disrupts };
  const made = { name, description, inputSchema: jsonSchemaOf(input(), "input"), annotations };
  described.set(name, made);
  return made;
}
