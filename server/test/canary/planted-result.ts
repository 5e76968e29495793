import type { CommandSpec } from "#cli/manifest";
import type { AnyEndpoint } from "#contract/core/endpoint";
import { contract } from "#contract/index";
import { alternatives, type JsonSchema, jsonSchemaOf } from "#contract/json-schema";

/** An answer of an endpoint as the contract describes it, with a planted secret wherever that marks one. */
export function plantedResult({ sdkNoun, sdkVerb }: CommandSpec, plant: (path: string) => string): unknown {
  const verbs = contract[sdkNoun as keyof typeof contract] as unknown as Readonly<Record<string, AnyEndpoint>>;
  const { result } = (verbs[sdkVerb] as AnyEndpoint).schemas();
  return result === undefined ? {} : planted(jsonSchemaOf(result, "output"), plant, "");
}

function planted(schema: JsonSchema, plant: (path: string) => string, path: string): unknown {
  const filled = alternatives(schema).filter(({ type }) => type !== "null");
  // Every alternative has its secrets: the fields of all of them, the first one's values.
  if (filled.length > 1 && filled.every(({ properties }) => properties))
    return Object.assign({}, ...filled.map((one) => planted(one, plant, path)).reverse());
  const one = filled[0] ?? {};
  const type = Array.isArray(one.type) ? one.type.find((name) => name !== "null") : one.type;
  if (one["x-secret"] === true || schema["x-secret"] === true) return type === "array" ? [plant(path)] : plant(path);
  const given = one.const ?? one.enum?.[0];
  if (given !== undefined) return given;
  if (type === "array") return [planted(one.items ?? {}, plant, `${path}[]`)];
  if (type === "object")
    return Object.fromEntries(
      Object.entries(one.properties ?? {}).map(([name, field]) => [
        name,
        planted(field, plant, path === "" ? name : `${path}.${name}`),
      ]),
    );
  if (type === "boolean") return false;
  if (type === "integer" || type === "number") return Math.max(Number(one["minimum"] ?? 0), 900);
  return one["format"] === "date-time" ? "2026-03-01T00:00:00.000Z" : `a ${path}`;
}
