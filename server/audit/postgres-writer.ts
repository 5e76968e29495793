import { sql, type Transaction } from "kysely";
import type { AuditTables } from "./tables.ts";

/** Any number that nothing else in the database locks on. */
const WRITER_LOCK = 7_140_001;

/** One writer at a time over all replicas, so that entries keep their order; held until the transaction ends. */
export async function claimPostgresWriter(trx: Transaction<AuditTables>): Promise<boolean> {
  const { rows } = await sql<{ claimed: boolean }>`select pg_try_advisory_xact_lock(${WRITER_LOCK}) as claimed`.execute(
    trx,
  );
  return rows[0]?.claimed === true;
}
