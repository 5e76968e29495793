import type { Kysely, Transaction } from "kysely";
import { type AuditContent, canonicalContent, parseCanonicalContent, sha256 } from "./chain.ts";
import type { AuditTables } from "./tables.ts";
import type { Waiting } from "./waiting-entries.ts";

export interface BatchOptions {
  /**
   * Claims the writing for this transaction (`claimPostgresWriter`); false = another replica has it. Not needed where
   * transactions exclude each other.
   */
  claim?(trx: Transaction<AuditTables>): Promise<boolean>;
  /** The partner of an organization, under which lists find its entries; without it they are found by organization. */
  partnerOf?(trx: Transaction<AuditTables>, orgId: string): Promise<string | null>;
  /** What the database says of these entries, whatever is stored of them. */
  refusedWith?: unknown;
}

/**
 * Puts entries into the log and takes them out of the outbox, in one transaction and in this order: the outbox lets go
 * of what the log holds, and of nothing else. The trigger seals them at commit.
 */
export async function moveBatch(
  db: Kysely<AuditTables>,
  batch: Waiting[],
  options: BatchOptions,
): Promise<number | "busy"> {
  return db.transaction().execute(async (trx) => {
    if (options.claim && !(await options.claim(trx))) return "busy";
    const ids = batch.map((waiting) => waiting.id);
    const waiting = await trx
      .selectFrom("auditOutbox")
      .select(["id", "entry"])
      .where("id", "in", ids)
      .orderBy("id")
      .execute();
    if (waiting.length === 0) return 0;
    const reader = await readerOf(trx, batch[0], options);
    const rows = waiting.map(({ entry }) => {
      const sent = typeof entry === "string" ? entry : JSON.stringify(entry);
      const canonical = options.refusedWith === undefined ? sent : withoutTexts(sent, options.refusedWith);
      return { ...parseCanonicalContent(canonical), checksum: sha256(canonical), ...reader };
    });
    await trx.insertInto("auditLogs").values(rows).execute();
    const moved = waiting.map(({ id }) => id);
    await trx.deleteFrom("auditOutbox").where("id", "in", moved).execute();
    return rows.length;
  });
}

/** A batch is of one chain. */
async function readerOf(
  trx: Transaction<AuditTables>,
  entry: Waiting | undefined,
  { partnerOf }: BatchOptions,
): Promise<{ readerPartnerId?: string | null }> {
  if (!entry || !partnerOf) return {};
  return { readerPartnerId: entry.orgId === null ? entry.partnerId : await partnerOf(trx, entry.orgId) };
}

/**
 * Says who did what to what, and when, of an entry of which the database refuses more. The outbox lets go of it for the
 * hash of what it said.
 */
function withoutTexts(canonical: string, error: unknown): string {
  const code = String((error as { code?: unknown }).code);
  const gone = { actorEmail: null, resourceName: null, ipAddress: null, userAgent: null, errorMessage: null };
  const details = JSON.stringify({ writeError: { code, contentHash: sha256(canonical) } });
  return canonicalContent({ ...parseCanonicalContent(canonical), ...gone, details } satisfies AuditContent);
}
