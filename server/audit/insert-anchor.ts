import { type Kysely, sql } from "kysely";
import type { Anchor } from "./anchor-format.ts";
import type { AuditTables } from "./tables.ts";

/** Signs for the database as the server (`server/db/server-key.ts`). */
export interface StatementKey {
  readonly id: string;
  sign(message: string): Buffer;
}

/**
 * The one way by which an anchor enters the database. Postgres takes it from the server alone, which proves itself with
 * `key`; SQLite, which is one process's own file, has none. Throws when its place is taken.
 */
export async function insertAnchor(
  db: Kysely<AuditTables>,
  anchor: Anchor,
  key: StatementKey | undefined,
): Promise<void> {
  if (!key) return void (await db.insertInto("auditAnchors").values(anchor).execute());
  const statement = JSON.stringify(anchor);
  const signature = key.sign(`audit-anchor ${statement}`).toString("hex");
  await sql`select audit_anchor(${statement}, ${key.id}, decode(${signature}, 'hex'))`.execute(db);
}
