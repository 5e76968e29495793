import { sql } from "kysely";
import pg from "pg";
import type { TestServer } from "./harness.ts";

/** Runs statements as the owner of the tables, which the server's own roles are not. */
export async function asOwner({ db, services }: TestServer, statements: readonly string[]): Promise<void> {
  if (services.store.url === undefined) {
    for (const statement of statements) await sql.raw(statement).execute(db);
    return;
  }
  const owner = new pg.Client({ connectionString: services.store.url });
  await owner.connect();
  try {
    for (const statement of statements) await owner.query(statement);
  } finally {
    await owner.end();
  }
}
