import { sql } from "kysely";
import { migrations } from "../generated/migrations.ts";
import { asSystem, type Exit } from "./as-system.ts";

/** Names of the migrations this program needs and the database does not have. */
export async function missingMigrations(exit: Exit): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(
    asSystem(exit, "report health"),
  );
  const applied = new Set(rows.map((row) => row.name));
  return migrations.map((change) => change.name).filter((name) => !applied.has(name));
}
