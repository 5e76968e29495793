import { type Expression, sql } from "kysely";
import type { DialectName } from "./index.ts";

/** Place of an id in a given list; ids outside it come last. The list is one parameter, however long. */
export function placeIn(column: Expression<string>, ids: readonly string[], dialect: DialectName): Expression<number> {
  const list = JSON.stringify(ids);
  return dialect === "postgres"
    ? sql<number>`coalesce((select place from jsonb_array_elements_text(${list}::jsonb) with ordinality as item(id, place) where item.id = ${column}::text), 2147483647)`
    : sql<number>`coalesce((select item.key from json_each(${list}) as item where item.value = ${column}), 2147483647)`;
}
