import { type Kysely, type Migration, Migrator, sql } from "kysely";
import type { DialectName } from "./dialect/index.ts";
import { migrations } from "./migrations/index.ts";
import { rowLevelSecurity } from "./row-level-security.ts";
import type { Database } from "./tables.ts";

/** A change of the schema, written once for both databases (see `schemaText`). */
export interface SchemaChange {
  readonly name: string;
  statements(dialect: DialectName): readonly string[];
}

const types = {
  sqlite: {
    uuid: "text",
    ts: "text",
    json: "text",
    bool: "integer",
    int: "integer",
    bigint: "integer",
    float: "real",
    serial: "integer primary key autoincrement",
    strict: "strict",
  },
  postgres: {
    uuid: "uuid",
    ts: "timestamptz(3)",
    json: "jsonb",
    bool: "boolean",
    int: "integer",
    bigint: "bigint",
    float: "double precision",
    serial: "bigserial primary key",
    strict: "",
  },
} as const;

/** Splits a script at `;` line ends and puts each database's type for `{uuid}`, `{ts}`, `{json}`, `{bool}` … */
export function schemaText(script: string): (dialect: DialectName) => string[] {
  return (dialect) =>
    script
      .replace(/\{(\w+)\}/g, (_, name: keyof (typeof types)["sqlite"]) => types[dialect][name])
      .split(/;\s*$/m)
      .map((statement) => statement.trim())
      .filter((statement) => statement !== "");
}

/**
 * Brings the schema up to date and returns the names of the migrations that ran. Safe to call from
 * any number of replicas at once: the migrator's lock lets one through, the others wait and find nothing to do.
 */
export async function migrate(db: Kysely<Database>, dialect: DialectName): Promise<string[]> {
  const provider = {
    getMigrations: async () =>
      Object.fromEntries(migrations.map((change) => [change.name, runnable(change, dialect)] as const)),
  };
  const { error, results } = await new Migrator({ db, provider }).migrateToLatest();
  if (error) throw error;
  return (results ?? []).filter((result) => result.status === "Success").map((result) => result.migrationName);
}

function runnable(change: SchemaChange, dialect: DialectName): Migration {
  return {
    async up(db) {
      for (const statement of change.statements(dialect)) await sql.raw(statement).execute(db);
      // Policies follow the ownership map, so a new table is walled in the migration that makes it.
      if (dialect === "postgres")
        for (const statement of await rowLevelSecurity(db)) await sql.raw(statement).execute(db);
    },
  };
}
