import { type Expression, type RawBuilder, sql } from "kysely";
import type { DialectName } from "./index.ts";

/** Place of an id in a given list; ids outside it come last. The list is one parameter, however long. */
export function placeIn(column: Expression<string>, ids: readonly string[], dialect: DialectName): Expression<number> {
  const list = JSON.stringify(ids);
  return dialect === "postgres"
    ? sql<number>`coalesce((select place from jsonb_array_elements_text(${list}::jsonb) with ordinality as item(id, place) where item.id = ${column}::text), 2147483647)`
    : sql<number>`coalesce((select item.key from json_each(${list}) as item where item.value = ${column}), 2147483647)`;
}

/** Text in byte order, whatever the database's collation: a list walked by cursor has one order on both databases. */
export function byteOrder(text: Expression<string | null>, dialect: DialectName): RawBuilder<string | null> {
  return dialect === "postgres" ? sql<string | null>`${text} collate "C"` : sql<string | null>`${text}`;
}

/** Number of the stretch of `seconds` that an instant falls into, for grouping samples. */
export function stretchOf(instant: Expression<string>, seconds: number, dialect: DialectName): Expression<number> {
  return dialect === "postgres"
    ? sql<number>`floor(date_part('epoch', ${instant}) / ${sql.lit(seconds)})`
    : sql<number>`cast(strftime('%s', ${instant}) as integer) / ${sql.lit(seconds)}`;
}
