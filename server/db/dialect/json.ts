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
