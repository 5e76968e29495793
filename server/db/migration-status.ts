import { sql } from "kysely";
import type { Store } from "./dialect/index.ts";
import { migrations } from "./migrations/index.ts";
import { systemHandle } from "./unit-of-work.ts";

/** Names of the migrations this program needs and the database does not have. */
export async function missingMigrations(store: Store): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(systemHandle(store));
  const applied = new Set(rows.map((row) => row.name));
  return migrations.map((change) => change.name).filter((name) => !applied.has(name));
}
