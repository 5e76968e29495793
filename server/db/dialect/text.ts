import { type Expression, type SqlBool, sql } from "kysely";

/**
 * Case-insensitive literal substring: `%` and `_` have no special meaning (docs/conventions.md, "Lists and pages").
 * Both databases have the function `fold` (migration 0001; SQLite registers it).
 */
export function contains(column: Expression<string | null>, needle: string): Expression<SqlBool> {
  return sql<SqlBool>`${fold(column)} like ${`%${escapeLike(needle.toLowerCase())}%`} escape '!'`;
}

/** The text as it compares without case. */
export const fold = (column: Expression<string | null>): Expression<string | null> =>
  sql<string | null>`fold(${column})`;

const escapeLike = (text: string) => text.replace(/[!%_]/g, (sign) => `!${sign}`);
