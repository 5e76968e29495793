import type { Kysely } from "kysely";
import { type AuditContent, canonicalContent, sha256 } from "./chain.ts";
import type { AuditTables } from "./tables.ts";

/**
 * Leaves entries for the writer, in the transaction of the change they tell of: both are stored together or not at
 * all. Call `AuditWriter.wake` once that transaction has committed.
 */
export async function enqueueAudit(trx: Kysely<AuditTables>, entries: readonly AuditContent[]): Promise<void> {
  if (entries.length > 0) await trx.insertInto("auditOutbox").values(entries.map(outboxRow)).execute();
}

export const outboxRow = (entry: AuditContent) => {
  const canonical = canonicalContent(entry);
  return {
    auditId: entry.id,
    orgId: entry.orgId,
    partnerId: entry.partnerId,
    entry: canonical,
    checksum: sha256(canonical),
  };
};

/**
 * How many entries have left the outbox without having reached the log: 0, unless somebody took the triggers down and
 * removed them (or, below 0, put some in).
 */
export async function missingFromOutbox(db: Kysely<AuditTables>): Promise<number> {
  const { counted, waiting } = await db
    .selectNoFrom((eb) => [
      eb
        .selectFrom("auditOutboxCounts")
        .select((of) => of.fn.coalesce(of.fn.sum<number | string>("entries"), of.val(0)).as("sum"))
        .as("counted"),
      eb
        .selectFrom("auditOutbox")
        .select((of) => of.fn.countAll<number | string>().as("entries"))
        .as("waiting"),
    ])
    .executeTakeFirstOrThrow();
  return Number(counted) - Number(waiting);
}
