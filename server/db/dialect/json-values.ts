import { type Expression, type SqlBool, sql } from "kysely";
import { foldCase } from "#contract/core/patterns/any-case";
import { hasText, isPlain, likeText } from "./filter-values.ts";
import type { DialectName } from "./index.ts";

/** What filters ask of JSON that devices have (docs/filters.md, "Custom fields in filters"). */

/** What a stored custom value is compared as; the key is a plain word. Null where it is none of the type. */
export function customValue(
  fields: Expression<object>,
  key: string,
  type: "string" | "number" | "boolean" | "date",
  dialect: DialectName,
): Expression<unknown> {
  if (dialect === "postgres") {
    // Told where it stands, Postgres reads the text in half the time.
    if (type === "string")
      return sql`case jsonb_typeof(${fields} -> ${sql.lit(key)}::text) when 'string' then ${fields} ->> ${sql.lit(key)}::text end`;
    return sql`${sql.raw(onPostgres[type])}(${fields} -> ${sql.lit(key)}::text)`;
  }
  const path = sql.lit(`$.${key}`);
  const [kind, value] = [sql`json_type(${fields}, ${path})`, sql`json_extract(${fields}, ${path})`];
  if (type === "string") return sql`case ${kind} when 'text' then ${value} end`;
  if (type === "date") return sql`case ${kind} when 'text' then instant_of(${value}) end`;
  if (type === "number")
    return sql`case ${kind} when 'integer' then ${value} when 'real' then ${value} when 'text' then number_of(${value}) end`;
  return sql`case ${kind} when 'true' then 1 when 'false' then 0 when 'text' then case ${value} when 'true' then 1 when 'yes' then 1 when 'false' then 0 when 'no' then 0 end end`;
}

/** Functions of the migration "fleet filter values". */
const onPostgres = {
  number: "rmm_custom_number",
  boolean: "rmm_custom_boolean",
  date: "rmm_custom_instant",
} as const;

/** Devices with nothing stored under this key. */
export const hasNoCustom = (fields: Expression<object>, key: string, dialect: DialectName): Expression<SqlBool> =>
  dialect === "postgres"
    ? sql<SqlBool>`(${fields} ->> ${sql.lit(key)}::text) is null`
    : sql<SqlBool>`coalesce(json_type(${fields}, ${sql.lit(`$.${key}`)}), 'null') = 'null'`;

/** A default of a custom field as `customValue` would read it. */
export const defaultValue = (value: unknown, type: "string" | "number" | "boolean" | "date", dialect: DialectName) =>
  dialect === "postgres" ? sql`${value}${sql.raw(`::${columnTypes[type]}`)}` : sql`${value}`;

export const columnTypes = { string: "text", number: "float8", boolean: "boolean", date: "timestamptz" } as const;

/**
 * SQLite: JSON in which a text may stand, whose values are read only then, as reading takes longer than looking. Undefined
 * where JSON would write the text otherwise; where it writes anything otherwise, or has letters that fold to plain ones,
 * any text may stand.
 */
export function mayHaveText(json: Expression<unknown>, text: string): Expression<SqlBool> | undefined {
  const folded = foldCase(text);
  if (!isPlain(folded) || /[\0-\x1f"\\]/.test(text)) return undefined;
  const foldsToPlain = sql<SqlBool>`octet_length(${json}) <> length(${json})`;
  return sql<SqlBool>`(${json} like ${likeText(folded, "anywhere")} escape '\\' or instr(${json}, '\\') > 0 or ${foldsToPlain})`;
}

/** SQLite: lists of texts of which one has this text in it. */
export function hasItemWith(json: Expression<readonly string[]>, text: string): Expression<SqlBool> {
  const item = hasText(sql<string>`item.value`, text, "anywhere", { dialect: "sqlite" });
  const found = sql<SqlBool>`exists (select 1 from json_each(${json}) as item where ${item})`;
  const mayBe = mayHaveText(json, text);
  return mayBe ? sql<SqlBool>`(${mayBe} and ${found})` : found;
}
