import type { Kysely } from "kysely";
import { type AuditContent, canonicalContent } from "./chain.ts";
import type { AuditTables } from "./tables.ts";

/**
 * Leaves entries for the writer, in the transaction of the change they tell of: both are stored together or not at
 * all. Call `AuditWriter.wake` once that transaction has committed.
 */
export async function enqueueAudit(trx: Kysely<AuditTables>, entries: readonly AuditContent[]): Promise<void> {
  if (entries.length > 0) await trx.insertInto("auditOutbox").values(entries.map(outboxRow)).execute();
}

export const outboxRow = (entry: AuditContent) => ({
  auditId: entry.id,
  orgId: entry.orgId,
  partnerId: entry.partnerId,
  entry: canonicalContent(entry),
});
