import type { Expression, SqlBool } from "kysely";
import { conditionsOf, type FilterCondition, type FilterGroup } from "#contract/core/filters/condition";
import { customKeyOf, takesOperator } from "#contract/core/filters/fields";
import { readValue } from "#contract/core/filters/read-value";
import { chunks } from "#server/db/chunks";
import { customColumn, type JsonReading, type ReadField, withCustomColumns } from "#server/db/dialect/custom-readings";
import { fairTurn } from "#server/db/dialect/fair-turn";
import type { DialectName } from "#server/db/dialect/index";
import { compare } from "./compare.ts";
import type { Context, Devices } from "./context.ts";
import {
  alike,
  type CustomColumns,
  type CustomType,
  type Reading,
  typedDefault,
  undefinedField,
} from "./custom-readings.ts";
import type { Definition } from "./definitions.ts";

export interface Wrapped {
  readonly columns: CustomColumns;
  /** What was compiled with these columns, as a condition over devices. */
  wrap(compiled: Expression<SqlBool>): Promise<Expression<SqlBool>>;
}

/** So many comparisons of custom fields stand in a statement with all that each reads; of more, values are read first. */
const WRITTEN_MAX = 64;
/** Keys of one row, with a column for each of four types: Postgres plans rows of a thousand columns for minutes. */
const KEYS_MAX = 50;

interface Known {
  readonly definitions: readonly Definition[];
  readonly dialect: DialectName;
  readonly written?: number | undefined;
}

/**
 * A condition on a custom field is one comparison for each way in which organizations read the field, so a thousand
 * conditions would be more than a statement takes. Where they are many, each device's values are worked out once, in a row
 * of their own, and all conditions look at that row. Undefined where they are few.
 */
export async function customColumns(
  eb: Devices,
  filter: FilterGroup,
  { definitions, dialect, written = WRITTEN_MAX }: Known,
): Promise<Wrapped | undefined> {
  const keys = new Map<string, Definition[]>();
  for (const definition of definitions) {
    const known = keys.get(definition.fieldKey);
    if (known) known.push(definition);
    else keys.set(definition.fieldKey, [definition]);
  }
  const ways = new Map<string, ReturnType<typeof alike>>();
  let comparisons = 0;
  for (const { field } of conditionsOf(filter)) {
    const key = customKeyOf(field);
    if (key === undefined) continue;
    const known = ways.get(key) ?? alike(keys.get(key) ?? []);
    ways.set(key, known);
    comparisons += known.length + 1;
    await fairTurn();
  }
  if (comparisons <= written) return undefined;
  const columns = new Map<string, ReadonlyMap<CustomType, Expression<never>>>();
  const rows = chunks([...ways], KEYS_MAX).map((some, row) =>
    some.map(([key, known], at) => {
      const field = readField(key, known);
      columns.set(key, new Map(field.types.map((type) => [type, customColumn(row, at, type)])));
      return field;
    }),
  );
  const [orgId, partnerId] = [eb.ref("devices.orgId"), eb.ref("devices.partnerId")];
  const device = { orgId, partnerId, osType: eb.ref("devices.osType"), fields: eb.ref("devices.customFields") };
  return { columns, wrap: (compiled) => withCustomColumns(rows, device, dialect, compiled) };
}

function readField(key: string, known: ReturnType<typeof alike>): ReadField {
  const byOwner = known.flatMap(({ reading, orgIds, partnerIds }) =>
    [...orgIds, ...partnerIds].map((id) => [id, jsonOf(reading)] as const),
  );
  const types = new Set([undefinedField.type, ...known.map(({ reading }) => reading.type)]);
  return { key, byOwner: Object.fromEntries(byOwner), other: jsonOf(undefinedField), types: [...types] };
}

function jsonOf(reading: Reading): JsonReading {
  const { type, deviceTypes } = reading;
  const value = typedDefault(reading);
  if (value === undefined) return { type };
  return { type, default: value, ...(deviceTypes === null ? {} : { systems: deviceTypes }) };
}

/** A condition on such a field: true by one of its columns, all others of a device being null. */
export function compareColumns(
  at: Context,
  columns: ReadonlyMap<CustomType, Expression<never>>,
  { operator, value }: FilterCondition,
): Expression<SqlBool> {
  const parts = [...columns].flatMap(([type, of]) => {
    const read = takesOperator(type, operator) ? readValue({ type }, operator, value) : undefined;
    if (!read || !("value" in read)) return [];
    return [compare(at, { type: type === "date" ? "datetime" : type, of }, { operator, value: read.value })];
  });
  if (parts.length === 0) return at.eb.lit(false);
  return operator === "isNull" ? at.eb.and(parts) : at.eb.or(parts);
}
