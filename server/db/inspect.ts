import { type Kysely, sql } from "kysely";
import { migrations } from "../generated/migrations.ts";
import type { DialectName, Store } from "./dialect/index.ts";
import { inspectWalls, type Walls } from "./inspect-walls.ts";
import type { Database } from "./tables.ts";

/** The migration that makes the audit log with its triggers. */
const AUDIT = "0005-audit";

/** What can be seen of a database without changing it. */
export interface DatabaseFacts {
  readonly dialect: DialectName;
  /** Undefined where the role may not read their record. */
  readonly migrations: { readonly applied: number; readonly missing: string[]; readonly newer: string[] } | undefined;
  /** Triggers of the audit log that are gone or switched off; undefined where there is no audit log yet. */
  readonly missingAuditTriggers: string[] | undefined;
  /** Postgres only, once every migration is applied. */
  readonly walls: Walls | undefined;
  /** Clock of the database; Postgres only. */
  readonly nowMs: number | undefined;
}

/** Looks at a database. Rejects when it cannot be reached. */
export async function inspectDatabase(store: Store): Promise<DatabaseFacts> {
  const db = store.connection("system");
  await sql`select 1`.execute(db);
  const postgres = store.dialect === "postgres";
  const applied = await migrationFacts(db);
  const current = applied?.missing.length === 0;
  return {
    dialect: store.dialect,
    migrations: applied,
    missingAuditTriggers: applied?.missing.includes(AUDIT)
      ? undefined
      : await missingTriggers(store.dialect, db, applied?.missing ?? []),
    walls: postgres && current ? await inspectWalls(store) : undefined,
    nowMs: postgres ? await clockOf(db) : undefined,
  };
}

async function missingTriggers(dialect: DialectName, db: Kysely<Database>, toCome: string[]): Promise<string[]> {
  const wanted = auditTriggers(dialect, toCome);
  const { rows } =
    dialect === "sqlite"
      ? await sql<{ name: string }>`select name from sqlite_master where type = 'trigger'`.execute(db)
      : await sql<{ name: string }>`select tgname as name from pg_trigger where tgenabled = 'A'`.execute(db);
  const working = new Set(rows.map(({ name }) => name));
  return wanted.filter((name) => !working.has(name));
}

/** Triggers that the migrations which ran have left on the audit log: a later one may drop and rename. */
function auditTriggers(dialect: DialectName, toCome: string[]): string[] {
  const names = new Set<string>();
  const applied = migrations.filter(({ name }) => !toCome.includes(name));
  const text = applied.flatMap((change) => change.statements(dialect)).join(";\n");
  const steps = /^(create (?:constraint )?|drop |alter )trigger (audit_\w+)(?: on \S+ rename to (\w+))?/gm;
  for (const [, verb, name, renamed] of text.matchAll(steps)) {
    if (verb?.startsWith("create")) names.add(name as string);
    else names.delete(name as string);
    if (renamed) names.add(renamed);
  }
  return [...names];
}

async function migrationFacts(db: Kysely<Database>): Promise<DatabaseFacts["migrations"]> {
  const known = migrations.map(({ name }) => name);
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
    const applied = new Set(rows.map(({ name }) => name));
    return {
      applied: applied.size,
      missing: known.filter((name) => !applied.has(name)),
      newer: [...applied].filter((name) => !known.includes(name)),
    };
  } catch (error) {
    const { message } = error as Error;
    if (/permission denied/i.test(message)) return undefined;
    if (/no such table|does not exist/i.test(message)) return { applied: 0, missing: known, newer: [] };
    throw error;
  }
}

async function clockOf(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ now: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(db);
  return Number(rows[0]?.now);
}
