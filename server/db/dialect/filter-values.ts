import { type Expression, type SqlBool, sql } from "kysely";
import { foldCase } from "#contract/core/patterns/any-case";
import type { DialectName } from "./index.ts";
import { postgresPattern, postgresText } from "./postgres-pattern.ts";
import { escapeLike } from "./text.ts";

/** Where filters differ by database (docs/filters.md). Each takes columns and values, never text of a statement. */

/** Texts in which the pattern is found. SQLite has the function `pattern_found` (`sqlite-functions.ts`). */
export const isFound = (text: Expression<string | null>, pattern: string, dialect: DialectName): Expression<SqlBool> =>
  dialect === "postgres"
    ? sql<SqlBool>`${text} collate "C" ~ ${postgresPattern(pattern)}`
    : sql<SqlBool>`pattern_found(${pattern}, ${text})`;

/** Where a text is looked for in another. */
export type Place = "anywhere" | "start" | "end";

/**
 * Texts with this text in them, literally and in any case (simple case folding of Unicode). Each database does that by
 * itself for plain letters; of other texts, which are few, SQLite asks the function `has_text`, Postgres a pattern with
 * all spellings.
 */
export function hasText(
  column: Expression<string | null>,
  text: string,
  place: Place,
  dialect: DialectName,
): Expression<SqlBool> {
  const folded = escapeLike(foldCase(text));
  const like = `${place === "start" ? "" : "%"}${folded}${place === "end" ? "" : "%"}`;
  return dialect === "postgres"
    ? sql<SqlBool>`case when octet_length(${column}) = char_length(${column}) then lower(${column} collate "C") like ${like} escape '!' else ${column} collate "C" ~ ${postgresText(text, { start: place === "start", end: place === "end" })} end`
    : sql<SqlBool>`case when octet_length(${column}) = length(${column}) then ${column} like ${like} escape '!' else has_text(${column}, ${foldCase(text)}, ${place}) end`;
}

/** A number that is compared with one of any type: Postgres would read it as one of the column's. */
export const numberLike = (value: number, dialect: DialectName): Expression<number> =>
  dialect === "postgres" ? sql<number>`${value}::float8` : sql<number>`${value}`;

/** One of these texts, which are one parameter however many. */
export const isOneOf = (
  column: Expression<string | null>,
  texts: readonly string[],
  dialect: DialectName,
  type: "text" | "uuid" = "text",
): Expression<SqlBool> =>
  dialect === "postgres"
    ? sql<SqlBool>`${column} = any(array(select item.value${sql.raw(`::${type}`)} from jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb) as item(value)))`
    : sql<SqlBool>`${column} in (select item.value from json_each(${JSON.stringify(texts)}) as item)`;

type Elements = Expression<readonly string[]>;

/** JSON arrays with one of these elements. */
export const hasAnyOf = (column: Elements, texts: readonly string[], dialect: DialectName): Expression<SqlBool> =>
  dialect === "postgres"
    ? sql<SqlBool>`jsonb_exists_any(${column}, array(select item.value from jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb) as item(value)))`
    : sql<SqlBool>`exists (select 1 from json_each(${column}) as item where item.value in (select given.value from json_each(${JSON.stringify(texts)}) as given))`;

/** JSON arrays that have an element with this text in it, in any case. */
export const hasElementLike = (column: Elements, text: string, dialect: DialectName): Expression<SqlBool> => {
  const has = hasText(sql.ref<string>("item.value"), text, "anywhere", dialect);
  return dialect === "postgres"
    ? sql<SqlBool>`exists (select 1 from jsonb_array_elements_text(${column}) as item(value) where ${has})`
    : sql<SqlBool>`exists (select 1 from json_each(${column}) as item where ${has})`;
};

/** What a stored custom value is compared as; the key is a plain word. Null where it is none of the type. */
export function customValue(
  fields: Expression<object>,
  key: string,
  type: "string" | "number" | "boolean" | "date",
  dialect: DialectName,
): Expression<unknown> {
  if (dialect === "postgres") return sql`${sql.raw(onPostgres[type])}(${fields} -> ${key}::text)`;
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
  string: "rmm_custom_text",
  number: "rmm_custom_number",
  boolean: "rmm_custom_boolean",
  date: "rmm_custom_instant",
} as const;

/** Devices with nothing stored under this key. */
export const hasNoCustom = (fields: Expression<object>, key: string, dialect: DialectName): Expression<SqlBool> =>
  dialect === "postgres"
    ? sql<SqlBool>`(${fields} ->> ${key}::text) is null`
    : sql<SqlBool>`coalesce(json_type(${fields}, ${sql.lit(`$.${key}`)}), 'null') = 'null'`;

/** A default of a custom field as `customValue` would read it. */
export const defaultValue = (value: unknown, type: "string" | "number" | "boolean" | "date", dialect: DialectName) =>
  dialect === "postgres" ? sql`${value}${sql.raw(`::${columnTypes[type]}`)}` : sql`${value}`;

const columnTypes = { string: "text", number: "float8", boolean: "boolean", date: "timestamptz" } as const;
