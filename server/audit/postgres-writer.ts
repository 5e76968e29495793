import { sql, type Transaction } from "kysely";
import type { AuditTables } from "./tables.ts";

/** One writer at a time over all replicas, so that entries keep their order; held until the transaction ends. */
export async function claimPostgresWriter(trx: Transaction<AuditTables>): Promise<boolean> {
  const { rows } = await sql<{ claimed: boolean }>`select audit_claim_outbox() as claimed`.execute(trx);
  return rows[0]?.claimed === true;
}
