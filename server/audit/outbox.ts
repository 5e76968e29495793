import type { Kysely } from "kysely";
import { type AuditContent, canonicalContent } from "./chain.ts";
import type { AuditTables } from "./tables.ts";

/**
 * Leaves an entry for the writer, in the transaction of the change it tells of: they are stored together or not at
 * all. Call `AuditWriter.wake` once that transaction has committed.
 */
export async function enqueueAudit(trx: Kysely<AuditTables>, entry: AuditContent): Promise<void> {
  await trx.insertInto("auditOutbox").values(outboxRow(entry)).execute();
}

export const outboxRow = (entry: AuditContent) => ({
  auditId: entry.id,
  orgId: entry.orgId,
  partnerId: entry.partnerId,
  entry: canonicalContent(entry),
});
