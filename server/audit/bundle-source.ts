import type { Kysely } from "kysely";
import { listAnchors } from "./anchors.ts";
import type { BundleParts } from "./bundle.ts";
import { type ChainRef, contentFields } from "./chain.ts";
import type { ChainEntry, PruneRecord } from "./chain-source.ts";
import { type AuditTables, hexOf } from "./tables.ts";

const PAGE = 500;
const ANCHORS_MAX = 10_000;

type Row = NonNullable<ChainEntry["row"]>;

/**
 * Reads a chain for `exportBundle`, page by page, up to where it stood when the reading began. `db` is an unscoped
 * handle. What is appended meanwhile is left out; what retention removes meanwhile shows as a gap, so export again.
 */
export async function bundleParts(
  db: Kysely<AuditTables>,
  chain: ChainRef,
  options: { now: Date; publicKey: string | null },
): Promise<BundleParts> {
  const anchors = await listAnchors(db, chain, { limit: ANCHORS_MAX, offset: 0 });
  const prunes = await listPrunes(db, chain);
  const head = await ofChain(db, chain).select("chainSeq").orderBy("chainSeq", "desc").limit(1).executeTakeFirst();
  return {
    chain,
    exportedAt: options.now.toISOString(),
    publicKey: options.publicKey,
    prunes,
    anchors,
    entries: entries(db, chain, Number(head?.chainSeq ?? 0)),
    unsealed: unsealed(db, chain),
  };
}

const ofChain = (db: Kysely<AuditTables>, chain: ChainRef) =>
  db.selectFrom("auditChain").where("chainKind", "=", chain.kind).where("chainId", "=", chain.id);

async function listPrunes(db: Kysely<AuditTables>, chain: ChainRef): Promise<PruneRecord[]> {
  const rows = await db
    .selectFrom("auditPrunes")
    .select(["orgId", "partnerId", "prunedThroughSeq", "prunedThroughHash", "prunedCount", "cutoff", "prunedAt"])
    .where("chainKind", "=", chain.kind)
    .where("chainId", "=", chain.id)
    .orderBy("prunedThroughSeq")
    .execute();
  return rows.map((row) => ({
    ...row,
    prunedThroughSeq: Number(row.prunedThroughSeq),
    prunedCount: Number(row.prunedCount),
    cutoff: new Date(row.cutoff).toISOString(),
    prunedAt: new Date(row.prunedAt).toISOString(),
  }));
}

async function* entries(db: Kysely<AuditTables>, chain: ChainRef, head: number): AsyncGenerator<ChainEntry> {
  for (let after = 0; after < head; ) {
    const rows = await db
      .selectFrom("auditChain as c")
      .leftJoin("auditLogs as l", "l.id", "c.auditId")
      .select(["c.chainSeq", "c.auditId", "c.contentHash", "c.prevHash", "c.chainHash", "l.checksum"])
      .select(contentFields.map((field) => `l.${field}` as const))
      .where("c.chainKind", "=", chain.kind)
      .where("c.chainId", "=", chain.id)
      .where("c.chainSeq", ">", after)
      .where("c.chainSeq", "<=", head)
      .orderBy("c.chainSeq")
      .limit(PAGE)
      .execute();
    for (const { chainSeq, auditId, contentHash, prevHash, chainHash, ...row } of rows)
      yield {
        chainSeq: Number(chainSeq),
        auditId,
        contentHash: hexOf(contentHash),
        prevHash: prevHash === null ? null : hexOf(prevHash),
        chainHash: hexOf(chainHash),
        row: row.id === null ? null : exportedRow(row as Row),
      };
    const last = rows.at(-1);
    if (!last) return;
    after = Number(last.chainSeq);
  }
}

async function* unsealed(db: Kysely<AuditTables>, chain: ChainRef): AsyncGenerator<Row> {
  for (let after: string | undefined; ; ) {
    let query = db
      .selectFrom("auditLogs as l")
      .select([...contentFields.map((field) => `l.${field}` as const), "l.checksum"])
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("auditChain as c")
              .select("c.auditId")
              .whereRef("c.auditId", "=", "l.id")
              .where("c.chainKind", "=", chain.kind)
              .where("c.chainId", "=", chain.id),
          ),
        ),
      );
    if (chain.kind === "organization") query = query.where("l.orgId", "=", chain.id);
    else query = query.where("l.orgId", "is", null);
    if (chain.kind === "partner") query = query.where("l.partnerId", "=", chain.id);
    if (chain.kind === "system") query = query.where("l.partnerId", "is", null);
    if (after !== undefined) query = query.where("l.id", ">", after);
    const rows = await query.orderBy("l.id").limit(PAGE).execute();
    for (const row of rows) yield exportedRow(row as Row);
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.id;
  }
}

const exportedRow = (row: Row): Row => ({ ...row, timestamp: new Date(row.timestamp).toISOString() });
