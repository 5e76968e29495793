import { type Expression, expressionBuilder, type RawBuilder, type SqlBool, sql } from "kysely";
import { fairTurn } from "./fair-turn.ts";
import type { DialectName } from "./index.ts";
import { columnTypes, customValue, hasNoCustom } from "./json-values.ts";

/** How organizations read a custom field, as JSON beside a device: each device looks up its own (docs/filters.md, "Custom fields in filters"). */
export interface JsonReading {
  readonly type: "string" | "number" | "boolean" | "date";
  /** As `customValue` would read it; left out where there is none. */
  readonly default?: string | number | boolean;
  /** Operating systems that have the default; left out where all have it. */
  readonly systems?: readonly string[];
}

/** How a custom field is read by the organization or partner with this id, and by all others. */
export interface ReadField {
  readonly key: string;
  readonly byOwner: Readonly<Record<string, JsonReading>>;
  readonly other: JsonReading;
  readonly types: readonly JsonReading["type"][];
}

/** What of a device says how it is read. */
export interface ReadDevice {
  readonly orgId: Expression<string>;
  readonly partnerId: Expression<string>;
  readonly osType: Expression<string>;
  readonly fields: Expression<object>;
}

/** A column of the row of values that a device has: the value of the field where it is read as the type, else null. */
export const customColumn = (row: number, field: number, type: JsonReading["type"]): Expression<never> =>
  sql.raw(`custom${row}.c${field}_${type}`);

/**
 * What was compiled with such columns, over rows that are made for each device, of `rows[0]` the columns of row 0. How a
 * field is read is looked up once for all types; the limits keep databases from writing the steps into each other.
 */
export async function withCustomColumns(
  rows: readonly (readonly ReadField[])[],
  device: ReadDevice,
  dialect: DialectName,
  compiled: Expression<SqlBool>,
): Promise<Expression<SqlBool>> {
  const row = (fields: readonly ReadField[]) => {
    const readings = fields.map((field, at) => readingOf(field, device, dialect).as(`r${at}`));
    const read = nothing.selectFrom(oneRow).select(readings).limit(sql.lit(1)).as("reading");
    const columns = fields.flatMap(({ key, types }, at) =>
      types.map((type) => {
        const value = valueByReading(sql.raw(`reading.r${at}`), device, { key, type, dialect });
        return value.as(`c${at}_${type}`);
      }),
    );
    return nothing.selectFrom(read).select(columns).limit(sql.lit(1));
  };
  const made = [];
  for (const [at, fields] of rows.entries()) {
    await fairTurn();
    made.push(row(fields).as(`custom${at}`));
  }
  return nothing.exists(nothing.selectFrom(made).select(sql.lit(1).as("found")).where(compiled));
}

/** Built without a handle: the outer query narrows it to the caller's scope. */
const nothing = expressionBuilder<Record<string, Record<string, unknown>>, never>();
const oneRow = sql`(values (1))`.as("one");

/** That of the device's organization before that of its partner. */
function readingOf(
  { byOwner, other }: ReadField,
  { orgId, partnerId }: ReadDevice,
  dialect: DialectName,
): RawBuilder<unknown> {
  const [all, rest] = [JSON.stringify(byOwner), JSON.stringify(other)];
  return dialect === "postgres"
    ? sql`coalesce(${all}::jsonb -> ${orgId}::text, ${all}::jsonb -> ${partnerId}::text, ${rest}::jsonb)`
    : sql`coalesce(json_extract(${all}, '$."' || ${orgId} || '"'), json_extract(${all}, '$."' || ${partnerId} || '"'), ${rest})`;
}

function valueByReading(
  reading: Expression<unknown>,
  { fields, osType }: ReadDevice,
  { key, type, dialect }: { key: string; type: JsonReading["type"]; dialect: DialectName },
): RawBuilder<unknown> {
  const stored = customValue(fields, key, type, dialect);
  const missing = hasNoCustom(fields, key, dialect);
  if (dialect === "postgres")
    return sql`case when ${reading} ->> 'type' = ${sql.lit(type)} then
      case when (${reading} -> 'default') is not null and ${missing}
        and ((${reading} -> 'systems') is null or (${reading} -> 'systems') @> to_jsonb(${osType}::text))
      then (${reading} ->> 'default')${sql.raw(`::${columnTypes[type]}`)} else ${stored} end end`;
  return sql`case when json_extract(${reading}, '$.type') = ${sql.lit(type)} then
    case when json_type(${reading}, '$.default') is not null and ${missing}
      and (json_type(${reading}, '$.systems') is null or instr(json_extract(${reading}, '$.systems'), '"' || ${osType} || '"') > 0)
    then json_extract(${reading}, '$.default') else ${stored} end end`;
}
