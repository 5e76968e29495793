import { type Expression, expressionBuilder, type SqlBool, sql } from "kysely";
import { foldCase } from "#contract/core/patterns/any-case";
import { TITLE_CONTAINS } from "./compilers.ts";
import type { DialectName } from "./index.ts";
import { patternAsLike } from "./pattern-like.ts";
import { postgresPattern, postgresText } from "./postgres-pattern.ts";

/** Where filters differ by database (docs/filters.md). Each takes columns and values, never text of a statement. */

/**
 * Texts in which the pattern is found. SQLite has the function `pattern_found` (`sqlite-functions.ts`). What every such text
 * is like is asked first: an engine of patterns takes ten times as long over each.
 */
export function isFound(text: Expression<string | null>, pattern: string, dialect: DialectName): Expression<SqlBool> {
  const like = patternAsLike(pattern);
  const found =
    dialect === "postgres"
      ? sql<SqlBool>`${text} collate "C" ~ ${postgresPattern(pattern)}`
      : sql<SqlBool>`pattern_found(${pattern}, ${text})`;
  return like === "%" ? found : sql<SqlBool>`(${isLikeText(text, like, dialect)} and ${found})`;
}

/** Postgres takes the backslash by itself; told of another sign, it rewrites the pattern for every row. */
const isLikeText = (text: Expression<string | null>, like: string, dialect: DialectName): Expression<SqlBool> =>
  dialect === "postgres" ? sql<SqlBool>`${text} like ${like}` : sql<SqlBool>`${text} like ${like} escape '\\'`;

/** Where a text is looked for in another. */
export type Place = "anywhere" | "start" | "end";

/**
 * Texts with this text in them, literally and in any case (simple case folding of Unicode). Each database finds plain
 * letters by itself, in any text; others, which only texts with others can have in them, SQLite asks the function
 * `has_text`, Postgres a pattern with all spellings. `isKey`: plain letters of the column are small already. The text of
 * an expression is made once.
 */
export function hasText(
  column: Expression<string | null>,
  text: string,
  place: Place,
  { dialect, isKey = false }: { dialect: DialectName; isKey?: boolean },
): Expression<SqlBool> {
  const folded = foldCase(text);
  if (isPlain(folded)) {
    const like = likeText(folded, place);
    const plain = withPlainLetters(column, folded, dialect);
    const isSmall = dialect === "sqlite" || (isKey && plain === column);
    return isLikeText(isSmall ? plain : sql<string>`lower(${plain} collate "C")`, like, dialect);
  }
  const found =
    dialect === "sqlite"
      ? sql<SqlBool>`has_text(${column}, ${folded}, ${place})`
      : sql<SqlBool>`${column} collate "C" ~ ${postgresText(text, { start: place === "start", end: place === "end" })}`;
  const bytes = sql<number>`octet_length(${column})`;
  const signs = dialect === "sqlite" ? sql<number>`length(${column})` : sql<number>`char_length(${column})`;
  return sql<SqlBool>`(${bytes} <> ${signs} and ${found})`;
}

/** Plain letters fold alike here and in every database. */
export const isPlain = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** Two signs that are not plain fold to plain letters: the long s and the sign of kelvin. */
function withPlainLetters(column: Expression<string | null>, folded: string, dialect: DialectName) {
  if (!/[sk]/.test(folded)) return column;
  return dialect === "sqlite"
    ? sql<string | null>`replace(replace(${column}, '\u017f', 's'), '\u212a', 'k')`
    : sql<string | null>`translate(${column}, '\u017f\u212a', 'sk')`;
}

/** `%` and `_` mean themselves. */
export const likeText = (text: string, place: Place): string =>
  `${place === "start" ? "" : "%"}${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}${place === "end" ? "" : "%"}`;

const containsFolded = (folded: string) => `%${folded.replace(/[!%_]/g, (sign) => `!${sign}`)}%`;

/** Titles of software with this text in them: few, of all programs, are looked through (migration "fleet filter indexes"). */
export function titleContains(title: Expression<string>, text: string, dialect: DialectName): Expression<SqlBool> {
  const eb = expressionBuilder<never, never>();
  const folded = foldCase(text);
  const spelled = dialect === "postgres" ? postgresText(text, { start: false, end: false }) : "";
  return eb.fn<SqlBool>(TITLE_CONTAINS, [title, eb.val(containsFolded(folded)), eb.val(folded), eb.val(spelled)]);
}

/** A number that is compared with one of any type: Postgres would read it as one of the column's. */
export const numberLike = (value: number, dialect: DialectName): Expression<number> =>
  dialect === "postgres" ? sql<number>`${value}::float8` : sql<number>`${value}`;

/** So many values stand in the statement one by one, where the database knows how many rows each has. */
const WRITTEN_MAX = 20;

/** One of these texts; of many, all are one parameter. */
export function isOneOf(
  column: Expression<string | null>,
  texts: readonly string[],
  dialect: DialectName,
  type: "text" | "uuid" = "text",
): Expression<SqlBool> {
  if (texts.length === 0) return sql<SqlBool>`(${column} is not null and ${sql.lit(1)} = 0)`;
  if (texts.length <= WRITTEN_MAX) return sql<SqlBool>`${column} in (${sql.join(texts)})`;
  const json = JSON.stringify(texts);
  return dialect === "postgres"
    ? sql<SqlBool>`${column} = any(array(select item.value${sql.raw(`::${type}`)} from jsonb_array_elements_text(${json}::jsonb) as item(value)))`
    : sql<SqlBool>`${column} in (select item.value from json_each(${json}) as item)`;
}

/** A column as SQLite does not look for it in an index. */
export const withoutIndex = (column: Expression<string>): Expression<string> => sql<string>`+${column}`;

export const tupleOf = (a: Expression<string>, b: Expression<string>): Expression<string> => sql<string>`(${a}, ${b})`;

/** One of what a query finds, which Postgres makes a list of first, to look for each in an index. */
export const isInArray = (column: Expression<string>, query: Expression<unknown>): Expression<SqlBool> =>
  sql<SqlBool>`${column} = any(array${query})`;
