import type { RefName } from "#contract/core/generated/refs";
import { kinds } from "../generated/kinds.ts";
import type { CommandSpec, FlagSpec } from "../manifest.ts";
import type { Draft, Part } from "./invocation.ts";

/** A parameter or field whose value names one row or several. */
export interface RefPlace {
  readonly part: Part;
  readonly name: string;
  readonly ref: RefName;
  /** `one` id, `many` as a JSON array, or a `text` of several with commas. */
  readonly holds: "one" | "many" | "text";
  /** Words that are accepted besides ids. */
  readonly words: readonly string[];
}

/** Every parameter and field of a command that names rows, as the contract declares them. */
export function refsOf(spec: CommandSpec): RefPlace[] {
  const params = Object.entries(spec.refs).flatMap(([name, ref]): RefPlace[] =>
    ref === "opaque" ? [] : [{ part: "params", name, ref, holds: "one", words: [] }],
  );
  return [...params, ...fieldsIn("query", spec.query), ...fieldsIn("body", spec.body)];
}

const fieldsIn = (part: Part, fields: readonly FlagSpec[]): RefPlace[] =>
  fields.flatMap(({ name, ref, type, format, words = [] }) => {
    if (ref === undefined) return [];
    const holds = type === "array" ? "many" : format === "uuid" ? "one" : "text";
    return [{ part, name, ref, holds, words }];
  });

/**
 * The parameter or field that `--org` or `--site` sets. Never the id of the thing that the command is about, and never
 * the body of a PATCH or PUT of one row: its organization is changed only by a flag of the command itself.
 */
export function scopePlaceOf(spec: CommandSpec, ref: RefName): RefPlace | undefined {
  const moves = (spec.method === "PATCH" || spec.method === "PUT") && spec.params.length > 0;
  return refsOf(spec).find(
    (place) =>
      place.ref === ref &&
      place.holds === "one" &&
      (place.part === "params" ? kinds[ref]?.noun !== spec.noun : place.part === "query" || !moves),
  );
}

/** Whether names are looked up: an agent may read no list, and knows its own id. */
export const takesNames = ({ access: { kinds } }: CommandSpec): boolean => kinds.some((kind) => kind !== "agent");

/** Whether any parameter or field names a row of this kind. */
export const takesRef = (spec: CommandSpec, ref: RefName): boolean => refsOf(spec).some((place) => place.ref === ref);

/** The organization that a request names, by id or by name; undefined if it names none. */
export function organizationOf(spec: CommandSpec, draft: Draft): string | undefined {
  const named = refsOf(spec)
    .filter(({ ref, holds }) => ref === "organization" && holds === "one")
    .map(({ part, name }) => draft[part][name]);
  return named.find((value): value is string => typeof value === "string" && value !== "");
}
