import {
  type Expression,
  ExpressionWrapper,
  expressionBuilder,
  type Kysely,
  PostgresAdapter,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from "kysely";
import { snakeCase } from "../naming.ts";
import type { Database } from "../tables.ts";
import type { DialectName } from "./index.ts";

/** Among these ids, of which a prepared query (`preparedRows`) makes one parameter, however many there are. */
export const among = (
  db: Pick<Kysely<Database>, "getExecutor">,
  column: Expression<string | null>,
  ids: readonly string[],
) =>
  db.getExecutor().adapter instanceof PostgresAdapter
    ? sql<SqlBool>`${column} = any(array(select id::uuid from jsonb_array_elements_text(${ids}::jsonb) as item(id)))`
    : sql<SqlBool>`${column} in (select item.value from json_each(${ids}) as item)`;

/** Among the ids that a query finds, each of which is looked for: Postgres would walk an index to meet them. */
export const amongFound = (
  db: Pick<Kysely<Database>, "getExecutor">,
  column: Expression<string | null>,
  found: Expression<unknown>,
) =>
  db.getExecutor().adapter instanceof PostgresAdapter
    ? sql<SqlBool>`${column} = any(array${found})`
    : sql<SqlBool>`${column} in ${found}`;

/**
 * The rows of these ids, one seek each. SQLite would look for every id in each of the caller's organizations, of which
 * there may be thousands: asked for them in the order of their ids, it uses the index of ids alone.
 */
export function withIds<T extends "devices" | "auditLogs">(
  db: Kysely<Database>,
  table: T,
  ids: readonly string[],
): SelectQueryBuilder<Database, T, object> {
  type Rows = { rows: { id: string } };
  const name = table as unknown as "rows";
  const some = db as unknown as Kysely<Rows>;
  if (db.getExecutor().adapter instanceof PostgresAdapter)
    return some.selectFrom(name).where((eb) => among(db, eb.ref(`${name}.id`), ids)) as never;
  // Built without a handle: the outer query narrows it to the caller's scope.
  const found = expressionBuilder<Rows, never>()
    .selectFrom(name)
    .where((eb) => among(db, eb.ref(`${name}.id`), ids));
  return some.selectFrom(found.selectAll().orderBy(`${name}.id`).limit(sql.lit(-1)).as(name)) as never;
}

/** True for rows whose JSON array holds this text. */
export function hasElement(
  column: Expression<readonly string[]>,
  element: string,
  dialect: DialectName,
): Expression<SqlBool> {
  return dialect === "postgres"
    ? sql<SqlBool>`${column} @> jsonb_build_array(${element}::text)`
    : sql<SqlBool>`exists (select 1 from json_each(${column}) as item where item.value = ${element})`;
}

/** What JSON text has under this name: null where it has nothing. */
export const valueAt = (text: Expression<string>, name: string, dialect: DialectName) =>
  dialect === "postgres"
    ? sql<unknown>`${text}::jsonb ->> ${name}::text`
    : sql<unknown>`json_extract(${text}, ${`$.${name}`})`;

/** True for rows whose JSON text has an array under this name. */
export const hasArray = (text: Expression<string>, name: string, dialect: DialectName): Expression<SqlBool> =>
  dialect === "postgres"
    ? sql<SqlBool>`coalesce(jsonb_typeof(${text}::jsonb -> ${name}::text), '') = 'array'`
    : sql<SqlBool>`coalesce(json_type(${text}, ${`$.${name}`}), '') = 'array'`;

/** True for rows whose JSON text has an array under this name of which every element is among these texts. */
export const arrayIsWithin = (
  text: Expression<string>,
  name: string,
  allowed: readonly string[],
  dialect: DialectName,
): Expression<SqlBool> =>
  dialect === "postgres"
    ? sql<SqlBool>`(${hasArray(text, name, dialect)} and ${text}::jsonb -> ${name}::text <@ ${allowed}::jsonb)`
    : sql<SqlBool>`(${hasArray(text, name, dialect)} and not exists (
        select 1 from json_each(${text}, ${`$.${name}`}) as item
        where item.value not in (select allowed.value from json_each(${allowed}) as allowed)))`;

/** Type of a column of `eachOf` on Postgres; SQLite takes what JSON has. */
export type EachType = "uuid" | "text" | "int" | "timestamptz";

/**
 * Rows made from values, one parameter however many they are, to update each row of a table with values of its own:
 * `update t set a = each.a from eachOf(…) as each where t.id = each.id`. Takes a handle without a tenant scope.
 */
export function eachOf<Row extends object>(
  dialect: DialectName,
  columns: { readonly [C in keyof Row & string]: EachType },
  rows: readonly Row[],
) {
  const names = Object.keys(columns) as (keyof Row & string)[];
  const text = JSON.stringify(
    rows.map((row) => Object.fromEntries(names.map((name) => [snakeCase(name), row[name] ?? null]))),
  );
  if (dialect === "postgres") {
    const typed = names.map((name) => `"${snakeCase(name)}" ${columns[name]}`).join(", ");
    return sql<Row>`(select * from jsonb_to_recordset(${text}::jsonb) as item(${sql.raw(typed)}))`.as<"each">(
      sql.ref("each"),
    );
  }
  const picked = names.map((name) => `value ->> '${snakeCase(name)}' as "${snakeCase(name)}"`).join(", ");
  return sql<Row>`(select ${sql.raw(picked)} from json_each(${text}))`.as<"each">(sql.ref("each"));
}

/** True for rows whose JSON object has this key, which is a plain word. */
export const hasKey = (column: Expression<object>, key: string, dialect: DialectName): Expression<SqlBool> =>
  dialect === "postgres"
    ? sql<SqlBool>`jsonb_exists(${column}, ${key})`
    : sql<SqlBool>`json_type(${column}, ${`$.${key}`}) is not null`;

/** The JSON object without this key. */
export const withoutKey = <T extends object>(column: Expression<T>, key: string, dialect: DialectName) =>
  dialect === "postgres" ? sql<T>`${column} - ${key}::text` : sql<T>`json_remove(${column}, ${`$.${key}`})`;

/** True for rows whose JSON array has elements, spelled as indexes on such rows have it. */
export const isFilled = (column: Expression<readonly string[]>): Expression<SqlBool> => sql<SqlBool>`${column} <> '[]'`;

/** The texts of a JSON array as rows with a `value`, to join to the row that has it. */
export const elementsOf = (column: Expression<readonly string[]>, dialect: DialectName) =>
  dialect === "postgres"
    ? sql<{ value: string }>`jsonb_array_elements_text(${column})`
    : sql<{ value: string }>`json_each(${column})`;

/** The ids that a query finds as the text of one JSON array: a list of any length that costs the process no rows. */
export function idList(
  found: Expression<{ id: string }>,
  dialect: DialectName,
): ExpressionWrapper<never, never, string> {
  const ids =
    dialect === "postgres"
      ? sql<string>`coalesce(json_agg(found.id), '[]')::text`
      : sql<string>`json_group_array(found.id)`;
  const rows = new ExpressionWrapper<{ found: { id: string } }, "found", { id: string }>(found.toOperationNode());
  const list = expressionBuilder<{ found: { id: string } }, never>()
    .selectFrom(rows.as("found") as never)
    .select(ids.as("ids"));
  return new ExpressionWrapper(list.toOperationNode());
}
