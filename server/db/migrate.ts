import { type Kysely, type Migration, Migrator, sql } from "kysely";
import { migrations } from "../generated/migrations.ts";
import type { DialectName } from "./dialect/index.ts";
import { makeRoles } from "./roles.ts";
import { rowLevelSecurity } from "./row-level-security.ts";
import type { NamedChange } from "./schema-change.ts";
import type { Database } from "./tables.ts";

/** Beyond this an upgrade is told by its number alone: an empty database gets all there are. */
const NAMED_MAX = 10;

/** What the log says of migrations that ran. */
export const toldOf = (applied: readonly string[]) => ({
  count: applied.length,
  ...(applied.length > NAMED_MAX ? { last: applied.at(-1) } : { applied }),
});

/**
 * Brings the schema up to date and returns the names of the migrations that ran. Safe to call from
 * any number of replicas at once: the migrator's lock lets one through, the others wait and find nothing to do.
 */
export async function migrate(db: Kysely<Database>, dialect: DialectName): Promise<string[]> {
  if (dialect === "postgres") await sql.raw(makeRoles).execute(db);
  const provider = {
    getMigrations: async () =>
      Object.fromEntries(migrations.map((change) => [change.name, runnable(change, dialect)] as const)),
  };
  const { error, results } = await new Migrator({ db, provider }).migrateToLatest();
  if (error) throw error;
  return (results ?? []).filter((result) => result.status === "Success").map((result) => result.migrationName);
}

function runnable(change: NamedChange, dialect: DialectName): Migration {
  return {
    async up(db) {
      for (const statement of change.statements(dialect)) await sql.raw(statement).execute(db);
      // Policies follow the ownership map. The last migration puts them up for all: those that are missing run in one transaction.
      if (dialect === "postgres" && change === migrations.at(-1))
        for (const statement of await rowLevelSecurity(db)) await sql.raw(statement).execute(db);
    },
  };
}
