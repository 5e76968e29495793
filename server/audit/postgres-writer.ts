import { type Kysely, sql, type Transaction } from "kysely";
import type { AuditTables } from "./tables.ts";

/** One writer at a time over all replicas, so that entries keep their order; held until the transaction ends. */
export async function claimPostgresWriter(trx: Transaction<AuditTables>): Promise<boolean> {
  const { rows } = await sql<{ claimed: boolean }>`select audit_claim_outbox() as claimed`.execute(trx);
  return rows[0]?.claimed === true;
}

/** Makes one row of the counts of connections that are gone (`audit_outbox_counts`). */
export async function foldOutboxCounts(db: Kysely<AuditTables>): Promise<void> {
  await sql`select audit_fold_outbox_counts()`.execute(db);
}
