import { type Expression, expressionBuilder, type SqlBool, sql } from "kysely";
import { FOLDED_LIKE } from "./compilers.ts";

/**
 * A word of ours in the text of the statement. As a parameter Postgres would have to guess how many rows have it: where
 * all have the same status, that none has another.
 */
export const word = <W extends string>(value: W): Expression<W> => sql.lit(value);

/**
 * Case-insensitive literal substring: `%` and `_` have no special meaning (docs/conventions.md, "Lists and pages").
 * Both databases have the function `fold` (migration 0001; SQLite registers it).
 */
export const contains = (column: Expression<string | null>, needle: string): Expression<SqlBool> =>
  matches(column, containsPattern(needle));

/** The same in two parts, for queries that are compiled before the text is known. Each compiler writes it in its way. */
export const matches = (column: Expression<string | null>, pattern: string): Expression<SqlBool> => {
  const eb = expressionBuilder<never, never>();
  return eb.fn<SqlBool>(FOLDED_LIKE, [column, eb.val(pattern)]);
};

/** Of a column that holds the text as it compares without case. */
export const isLike = (folded: Expression<string | null>, pattern: string): Expression<SqlBool> =>
  sql<SqlBool>`${folded} like ${pattern} escape '!'`;

export const containsPattern = (needle: string): string => `%${escapeLike(needle.toLowerCase())}%`;

/** The text as it compares without case. */
export const fold = (column: Expression<string | null>): Expression<string | null> =>
  sql<string | null>`fold(${column})`;

export const escapeLike = (text: string) => text.replace(/[!%_]/g, (sign) => `!${sign}`);
