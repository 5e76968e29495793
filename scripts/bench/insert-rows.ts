import { type Kysely, sql } from "kysely";
import { chunks } from "#server/db/chunks";
import type { DialectName } from "#server/db/dialect/index";
import { snakeCase } from "#server/db/naming";
import type { Database } from "#server/db/tables";

/** Rows per statement: SQLite accepts 32,766 parameters. */
const ROWS_MAX: Readonly<Record<DialectName, number>> = { sqlite: 500, postgres: 5_000 };

/** Inserts rows that have the same fields; on Postgres as one JSON text a statement. */
export async function insertRows(
  db: Kysely<Database>,
  dialect: DialectName,
  table: keyof Database,
  count: number,
  row: (index: number) => object,
): Promise<void> {
  const all = Array.from({ length: count }, (_, index) => index);
  for (const some of chunks(all, ROWS_MAX[dialect])) {
    const rows = some.map(row);
    if (dialect === "postgres") await fromJson(db, table, rows);
    else
      await db
        .insertInto(table)
        .values(rows as never)
        .execute();
  }
}

async function fromJson(db: Kysely<Database>, table: keyof Database, rows: readonly object[]): Promise<void> {
  const named = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([field, value]) => [snakeCase(field), value])),
  );
  const columns = sql.join(Object.keys(named[0] ?? {}).map((column) => sql.id(column)));
  const of = sql.id(snakeCase(table));
  await sql`insert into ${of} (${columns}) select ${columns}
    from json_populate_recordset(null::${of}, ${JSON.stringify(named)}::json)`.execute(db);
}
