import type { AnyEndpoint } from "#contract/core/endpoint";
import { awaited, type RefName } from "#contract/core/generated/refs";
import { alternatives, type JsonSchema, jsonSchemaOf } from "#contract/json-schema";
import { rowOfRef, type Tenant } from "#fixtures/world";

/** A field of a query or body that names rows. */
export interface IdField {
  at: "query" | "body";
  name: string;
  /** Several ids: as a JSON array, or comma-separated in a query. */
  many: boolean;
  row: keyof Tenant;
}

/** Kinds of rows that the tenants of the fixtures lack, and why. */
export const withoutRows = {
  membership: "memberships are their person's, and no field of a query or body names one",
  role: "examples use built-in roles, which every tenant has",
  ...awaited,
} as const satisfies Partial<Record<RefName, string>>;

/** Every id field of an endpoint's query and body. Throws if no row is known for one, since no sweep would test it. */
export function idFields(endpoint: AnyEndpoint): IdField[] {
  return namingFields(endpoint).flatMap(({ at, name, ref, many }) => {
    if (ref in withoutRows) return [];
    const row = rowOfRef[ref];
    if (row === undefined)
      throw new Error(`${endpoint.noun}.${endpoint.verb}: no row is known for the ${ref} in ${name}`);
    return [{ at, name, many, row }];
  });
}

/** Every field that names rows, whether a tenant has such a row or not. */
export function namingFields(endpoint: AnyEndpoint): (Pick<IdField, "at" | "name" | "many"> & { ref: RefName })[] {
  const { query, body } = endpoint.schemas();
  return (["query", "body"] as const).flatMap((at) => {
    const schema = at === "query" ? query : body;
    const described = schema && jsonSchemaOf(schema, "input");
    return Object.entries(described?.properties ?? {}).flatMap(([name, field]) => {
      const named = namedBy(field);
      return named === undefined ? [] : [{ at, name, ...named }];
    });
  });
}

/** The kind of row that a field names. An array, or a string without a format, names several rows. */
function namedBy(field: JsonSchema): { ref: RefName; many: boolean } | undefined {
  for (const option of alternatives(field)) {
    const own = option["x-ref"];
    if (own !== undefined) return { ref: own, many: option["format"] !== "uuid" };
    const items = option.items === undefined ? [] : alternatives(option.items);
    const item = items.find((one) => one["x-ref"] !== undefined)?.["x-ref"];
    if (item !== undefined) return { ref: item, many: true };
  }
  return undefined;
}

/** The value of a field that names this row. */
export const valueFor = (field: IdField, id: string): unknown => (field.many && field.at === "body" ? [id] : id);
