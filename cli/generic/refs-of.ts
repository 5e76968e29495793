import { type RefName, refs } from "#contract/core/refs";
import type { CommandSpec, FlagSpec } from "../manifest.ts";
import type { Draft, Part } from "./invocation.ts";

/** A value of a call that names a row, or several. */
export interface RefPlace {
  readonly part: Part;
  readonly name: string;
  readonly ref: RefName;
  /** `one` id, `many` as a JSON array, or a `text` of several with commas. */
  readonly holds: "one" | "many" | "text";
  /** Words that are no name. */
  readonly words: readonly string[];
}

/** Everything in a call that names rows, as the contract says. */
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
 * Where `--org` or `--site` goes. Not onto the thing itself that the command is about, and not into a change of it:
 * PATCH and PUT take another organization only from a flag of their own.
 */
export function scopePlaceOf(spec: CommandSpec, ref: RefName): RefPlace | undefined {
  const moves = spec.method === "PATCH" || spec.method === "PUT";
  return refsOf(spec).find(
    (place) =>
      place.ref === ref &&
      place.holds === "one" &&
      (place.part === "params" ? refs[ref] !== spec.noun : place.part === "query" || !moves),
  );
}

/** True where the command takes a row of this kind anywhere. */
export const takesRef = (spec: CommandSpec, ref: RefName): boolean => refsOf(spec).some((place) => place.ref === ref);

/** The organization that a call names, or its default stands for; an id or still a name. */
export function organizationOf(spec: CommandSpec, draft: Draft): string | undefined {
  const named = refsOf(spec)
    .filter(({ ref, holds }) => ref === "organization" && holds === "one")
    .map(({ part, name }) => draft[part][name]);
  return named.find((value): value is string => typeof value === "string" && value !== "");
}
