import { type Expression, sql } from "kysely";
import type { DialectName } from "./index.ts";
import { LAST_PLACE } from "./sqlite-functions.ts";

/**
 * Place of an id in a list, which is one parameter however long; ids outside it come last. SQLite has the function
 * `place_in` (`sqlite-functions.ts`).
 */
export function placeIn(column: Expression<string>, ids: readonly string[], dialect: DialectName): Expression<number> {
  return dialect === "postgres"
    ? sql<number>`coalesce(array_position(array(select item.id from jsonb_array_elements_text(${ids}::jsonb) with ordinality as item(id, place) order by item.place), ${column}::text), ${sql.lit(LAST_PLACE)})`
    : sql<number>`place_in(${column}, ${ids})`;
}

/** Number of the stretch of `seconds` that an instant falls into, for grouping samples. */
export function stretchOf(instant: Expression<string>, seconds: number, dialect: DialectName): Expression<number> {
  return dialect === "postgres"
    ? sql<number>`floor(date_part('epoch', ${instant}) / ${sql.lit(seconds)})`
    : sql<number>`cast(strftime('%s', ${instant}) as integer) / ${sql.lit(seconds)}`;
}

/** Text in the order of its bytes, which both databases share. */
export const bytewise = (text: Expression<string>, dialect: DialectName): Expression<string> =>
  dialect === "postgres" ? sql<string>`${text} collate "C"` : text;
