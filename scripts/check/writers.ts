import { type TableName, tableNames, tables } from "#server/db/tables";
import { roomOf } from "./room-of.ts";
import { isTest, type Source, sources } from "./sources.ts";

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const declared: ReadonlySet<string> = new Set(tableNames);

/** Statements of the query builder, such as `insertInto("sites")`. Without a literal the table is unknown. */
const built = /\.(insertInto|replaceInto|updateTable|deleteFrom|mergeInto)\(\s*(?:"(\w+)[^"]*")?/g;
/** Anything else with such a name: taken out of the builder, called by its text, given to a function. */
const hidden =
  /(?<!\.)\b(insertInto|replaceInto|updateTable|deleteFrom|mergeInto)\b|\.(insertInto|replaceInto|updateTable|deleteFrom|mergeInto)\b(?!\()/g;
/** A member of a connection by a computed name, which no text tells. */
const computed = /\b(db|tx|trx|whole)(?: as \w+)?[)!]?(?:\?\.)?\[/g;
/** SQL statements as text, which only `db` and `audit` contain. */
const written = /\b(?:insert\s+into|update|delete\s+from)\s+(?:public\.)?([a-z_]+)\b/g;

/** Writes to a table outside the room that the table names (`writtenBy`, server/db/tables). */
export async function writerFaults(files: readonly Source[] = sources()): Promise<string[]> {
  return files.flatMap(({ path, text }) => {
    if (!path.startsWith("server/") || isTest(path) || path.startsWith("server/db/migrations/")) return [];
    return [
      ...[...text.matchAll(hidden)].map(
        ([, bare, member]) => `${path} uses ${bare ?? member} otherwise than by calling it on a connection`,
      ),
      ...[...text.matchAll(computed)].map(([, name]) => `${path} calls ${name} by a computed name`),
      ...[...text.matchAll(built)].flatMap(([, verb, table]) => {
        if (table === undefined) return [`${path} writes to a table that ${verb}() does not name`];
        return declared.has(table)
          ? faultOf(path, table as TableName)
          : [`${path} writes to the unknown table ${table}`];
      }),
      ...[...text.matchAll(written)]
        .map(([, table]) => camelCase(table as string))
        .flatMap((table) => (declared.has(table) ? faultOf(path, table as TableName) : [])),
    ];
  });
}

function faultOf(path: string, table: TableName): string[] {
  const { writtenBy } = tables[table];
  return roomOf(path) === writtenBy ? [] : [`${path} writes to ${table}, which ${writtenBy} alone writes`];
}
