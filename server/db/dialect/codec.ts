import { snakeCase } from "../naming.ts";
import type { TableDeclaration } from "../table-declaration.ts";
import { type TableName, tables } from "../tables.ts";

/**
 * Features see booleans and parsed JSON on both databases. SQLite has neither, so the columns that
 * hold them are known by name; a test compares these lists with what Postgres declares.
 */
export const booleanColumns: ReadonlySet<string> = columns((table) => table.booleans);
export const jsonColumns: ReadonlySet<string> = columns((table) => table.json);

function columns(of: (table: TableDeclaration<Record<string, unknown>>) => readonly string[] | undefined): Set<string> {
  const names = Object.values(tables as Record<TableName, TableDeclaration<Record<string, unknown>>>).flatMap(
    (table) => of(table) ?? [],
  );
  return new Set(names.map(snakeCase));
}

/** Names that queries give to JSON columns where two of one name meet. */
const jsonAliases: ReadonlySet<string> = new Set(["org_settings"]);

/** Objects and arrays are stored as JSON text on both databases: no array columns exist. */
export function encodeJson(value: unknown): unknown {
  if (value === null || typeof value !== "object" || value instanceof Uint8Array) return value;
  return JSON.stringify(value);
}

export function encodeSqlite(value: unknown): unknown {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value === undefined) return null;
  return encodeJson(value);
}

/** What a column's value becomes; undefined = it is what features see already. */
export function sqliteDecoder(column: string): ((value: unknown) => unknown) | undefined {
  if (booleanColumns.has(column)) return (value) => value === 1 || value === 1n;
  if (jsonColumns.has(column) || jsonAliases.has(column))
    return (value) => (typeof value === "string" ? JSON.parse(value) : value);
  return undefined;
}
