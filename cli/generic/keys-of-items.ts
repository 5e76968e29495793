import type { CommandSpec } from "../manifest.ts";
import { filterFieldOf } from "./filter-field.ts";
import type { Draft, Part } from "./invocation.ts";
import { refsOf } from "./refs-of.ts";

/** `where` stands for conditions, as `--where` does. */
export const knownOf = (spec: CommandSpec): string[] => [
  ...spec.params,
  ...spec.body.map(({ name }) => name),
  ...(filterFieldOf(spec) === undefined ? [] : [EXPRESSION]),
];

export const EXPRESSION = "where";

const shortNames = [
  ["organization", ["org", "organization"]],
  ["site", ["site"]],
  ["partner", ["partner"]],
  ["role", ["role"]],
] as const;

export type PlaceIn = (key: string) => { readonly part: Exclude<Part, "query">; readonly name: string } | undefined;

/**
 * The parameter or field that a key of an entry sets; `organization` and its like set the one
 * that names such a row.
 */
export function placesIn(spec: CommandSpec, flags: Draft): PlaceIn {
  if (spec.hasBody && spec.body.length === 0) return placesOfAnyName(spec, flags);
  const known = knownOf(spec);
  const places = refsOf(spec).filter(({ part, holds }) => part !== "query" && holds === "one");
  const short = new Map<string, string>(
    shortNames.flatMap(([ref, keys]) => {
      // The last one is in the body if there is one: a parameter may be the id of the thing itself.
      const place = places.findLast((one) => one.ref === ref);
      return place === undefined ? [] : keys.map((key) => [key, place.name] as const);
    }),
  );
  return (key) => {
    const name = known.includes(key) ? key : short.get(key);
    if (name === undefined) return undefined;
    return { part: spec.params.includes(name) ? "params" : "body", name };
  };
}

/**
 * A body that declares no fields takes any, `id` too. What is not given as an argument is named by its kind, as
 * `device`; an argument leaves that name to the body as well.
 */
function placesOfAnyName(spec: CommandSpec, flags: Draft): PlaceIn {
  const open = spec.params.filter((param) => flags.params[param] === undefined);
  return (key) => {
    const param = open.find((one) => spec.refs[one] === key);
    return param === undefined ? { part: "body", name: key } : { part: "params", name: param };
  };
}
