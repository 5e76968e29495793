import type { Kysely } from "kysely";
import type { BundleParts } from "./bundle.ts";
import { type ChainRef, contentFields } from "./chain.ts";
import type { ChainEntry } from "./chain-source.ts";
import { statementsAfter } from "./statements.ts";
import { type AuditTables, hexOf } from "./tables.ts";

const PAGE = 500;

type Row = NonNullable<ChainEntry["row"]>;

/**
 * Reads a chain for `exportBundle`, page by page: first its statements, then the entries up to where it stands by then,
 * so that no anchor lies beyond them. `db` is an unscoped handle. What retention removes meanwhile shows as a gap, so
 * export again.
 */
export const bundleParts = (
  db: Kysely<AuditTables>,
  chain: ChainRef,
  options: { now: Date; publicKey: string | null },
): BundleParts => ({
  chain,
  exportedAt: options.now.toISOString(),
  publicKey: options.publicKey,
  statements: statementsAfter(db, chain, Number.MIN_SAFE_INTEGER),
  entries: entries(db, chain),
  unsealed: unsealed(db, chain),
});

async function* entries(db: Kysely<AuditTables>, chain: ChainRef): AsyncGenerator<ChainEntry> {
  const newest = await db
    .selectFrom("auditChain")
    .select("chainSeq")
    .where("chainKind", "=", chain.kind)
    .where("chainId", "=", chain.id)
    .orderBy("chainSeq", "desc")
    .limit(1)
    .executeTakeFirst();
  const head = Number(newest?.chainSeq ?? 0);
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
