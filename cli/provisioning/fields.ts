import type { FieldChange } from "./field-change.ts";

/** The fields that the file names and that are not as it says, in the order of `names`. */
export function changedFields(
  names: readonly string[],
  before: Readonly<Record<string, unknown>>,
  wanted: Readonly<Record<string, unknown>>,
): FieldChange[] {
  return names
    .filter((field) => wanted[field] !== undefined && !isSame(before[field], wanted[field], field))
    .map((field) => ({ field, before: before[field] ?? null, after: wanted[field] }));
}

/** Roles compare as a set: their order means nothing. */
function isSame(a: unknown, b: unknown, field: string): boolean {
  if (field === "roles") return stable([...(a as string[])].sort()) === stable([...(b as string[])].sort());
  return stable(a) === stable(b);
}

/** JSON with sorted keys: a database may return an object's keys in another order. */
export function stable(value: unknown): string {
  return JSON.stringify(value ?? null, (_key, one: unknown) =>
    one !== null && typeof one === "object" && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

/** The named fields that the file gives. */
export const pick = (names: readonly string[], from: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]));

/** The part of a request that carries out changes. */
export const bodyOf = (changes: readonly FieldChange[]) =>
  Object.fromEntries(changes.map(({ field, after }) => [field, after]));
/** Everything that a new object starts with. */
export const createdFields = (body: Readonly<Record<string, unknown>>): readonly FieldChange[] =>
  Object.entries(body)
    .filter(([, value]) => value !== null)
    .map(([field, after]) => ({ field, before: null, after }));
