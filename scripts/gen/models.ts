import type { Area } from "#contract/areas";
import type { AnyEndpoint } from "#contract/core/endpoint";
import { allEndpoints, areaOfNoun } from "#contract/index";
import { alternatives, type JsonSchema, jsonSchemaOf } from "#contract/json-schema";
import { type Components, referenced } from "#contract/openapi-components";
import { modelFiles } from "./model-files.ts";
import { fieldLines, type Place, typeText } from "./type-text.ts";

/** The types of one endpoint as its method writes them. */
export interface Shown {
  readonly params: string | undefined;
  readonly query: string | undefined;
  readonly body: string | undefined;
  /** Whether a call may leave the part out. */
  readonly queryOptional: boolean;
  readonly bodyOptional: boolean;
  readonly result: string;
  /** One entry of a list. */
  readonly item: string | undefined;
}

/** The files of `sdk/generated/models`, and the names that the methods use of them. */
export interface Models {
  readonly files: ReadonlyMap<string, string>;
  of(endpoint: AnyEndpoint): Shown;
}

/** Names every shape that the API takes or answers. Plain interfaces: a program that uses the SDK checks no schema. */
export function sdkModels(): Models {
  const components: Components = new Map();
  const declared = new Map<string, string>();
  // A type stands with the area whose endpoint names it first.
  const areas = new Map<string, Area>();
  const noted = <T>(endpoint: AnyEndpoint, made: T): T => {
    const area = areaOfNoun(endpoint.noun) as Area;
    for (const name of [...components.keys(), ...declared.keys()]) if (!areas.has(name)) areas.set(name, area);
    return made;
  };
  // Answers name the components first, as they do in the OpenAPI document.
  const results = new Map(allEndpoints().map((one) => [one, noted(one, schemaOf(one, "result", components))] as const));
  const shown = new Map(
    allEndpoints().map((one) => [one, noted(one, show(one, results.get(one), components, declared))] as const),
  );
  const shapes = [...components].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const places = inputsAmong(components);
  for (const [name, schema] of shapes) declare(declared, name, schema, places.has(name) ? "input" : "output");
  return { files: modelFiles(declared, areas), of: (endpoint) => shown.get(endpoint) as Shown };
}

/** A shape whose name ends in `Input` is one that reads differently when it is sent. */
const inputsAmong = (components: Components): Set<string> =>
  new Set([...components.keys()].filter((name) => name.endsWith("Input")));

function schemaOf(endpoint: AnyEndpoint, part: "body" | "result", components: Components): JsonSchema | undefined {
  const schema = endpoint.schemas()[part];
  return (
    schema && { ...referencedRoot(referenced(schema, part === "body" ? "input" : "output", components), components) }
  );
}

/** The root of a schema is a component of its own where the contract names it. */
function referencedRoot(schema: JsonSchema, components: Components): JsonSchema {
  const { "x-component": name, ...shape } = schema;
  if (typeof name !== "string") return schema;
  const known = components.get(name);
  if (known === undefined) components.set(name, shape);
  else if (JSON.stringify(known) !== JSON.stringify(shape)) return shape;
  return { $ref: `#/components/schemas/${name}` };
}

function show(
  endpoint: AnyEndpoint,
  result: JsonSchema | undefined,
  components: Components,
  declared: Map<string, string>,
): Shown {
  const { params, query } = endpoint.schemas();
  const body = schemaOf(endpoint, "body", components);
  const asked = query && jsonSchemaOf(query, "input");
  const named = (schema: JsonSchema | undefined, suffix: string, place: Place) =>
    schema && nameOf(declared, `${typeNameOf(endpoint)}${suffix}`, schema, place);
  const items = endpoint.paging?.items ?? "";
  const listed =
    result &&
    alternatives(resolved(result, components)).find(({ properties }) => properties?.[items])?.properties?.[items]
      ?.items;
  return {
    params:
      params &&
      typeText(bare(jsonSchemaOf(params, "input")), "input")
        .replaceAll(/\s+/g, " ")
        .replace("; }", " }"),
    query: named(asked, "Query", "query"),
    body: named(body, "Body", "input"),
    queryOptional: (asked?.required ?? []).length === 0,
    bodyOptional: body?.$ref === undefined && isObject(body) && (body?.required ?? []).length === 0,
    result: named(result, "Result", "output") ?? "undefined",
    item: listed && nameOf(declared, `${typeNameOf(endpoint)}Item`, listed, "output"),
  };
}

/** What a reference to a component stands for. */
const resolved = (schema: JsonSchema, components: Components): JsonSchema =>
  components.get(String(schema["$ref"]).split("/").at(-1) as string) ?? schema;

const isObject = (schema: JsonSchema | undefined): boolean => schema?.type === "object";

/** The schema without the descriptions of its fields. */
const bare = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  properties: Object.fromEntries(Object.keys(schema.properties ?? {}).map((name) => [name, { type: "string" }])),
});

const typeNameOf = ({ noun, verb }: AnyEndpoint): string =>
  `${noun}-${verb}`.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Names every composite shape that the contract has not named. */
function nameOf(declared: Map<string, string>, name: string, schema: JsonSchema, place: Place): string {
  const text = typeText(schema, place);
  if (typeof schema["$ref"] === "string" || /^(\w+|Record<.*>)$/.test(text)) return text;
  declare(declared, name, schema, place);
  return name;
}

function declare(declared: Map<string, string>, name: string, schema: JsonSchema, place: Place): void {
  if (declared.has(name)) throw new Error(`two types of the SDK are named ${name}`);
  const { properties, additionalProperties: more } = schema;
  const open = more !== undefined && more !== false && place === "input";
  const text =
    isObject(schema) && properties !== undefined
      ? [
          `export interface ${name} {`,
          ...fieldLines(schema, place, "  "),
          ...(open ? ["  [key: string]: unknown;"] : []),
          "}",
        ]
      : [`export type ${name} = ${typeText(schema, place)};`];
  declared.set(name, `${text.join("\n")}\n`);
}
