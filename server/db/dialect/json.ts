import { type Expression, type SqlBool, sql } from "kysely";
import type { DialectName } from "./index.ts";

/** True for rows whose JSON array holds this text. */
export function hasElement(
  column: Expression<readonly string[]>,
  element: string,
  dialect: DialectName,
): Expression<SqlBool> {
  return dialect === "postgres"
    ? sql<SqlBool>`${column} @> ${JSON.stringify([element])}::jsonb`
    : sql<SqlBool>`exists (select 1 from json_each(${column}) as item where item.value = ${element})`;
}

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
    ? sql<SqlBool>`(${hasArray(text, name, dialect)} and ${text}::jsonb -> ${name}::text <@ ${JSON.stringify(allowed)}::jsonb)`
    : sql<SqlBool>`(${hasArray(text, name, dialect)} and not exists (
        select 1 from json_each(${text}, ${`$.${name}`}) as item
        where item.value not in (select allowed.value from json_each(${JSON.stringify(allowed)}) as allowed)))`;
