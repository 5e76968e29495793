import type { SqliteConnection } from "../db/dialect/sqlite-library.ts";
import { type ChainStatement, isPrune, type PruneRecord } from "./anchor-format.ts";
import { type ChainRef, contentFields } from "./chain.ts";
import type { OldEntry, PrunableChain, UnsignedPrune } from "./prune-chain.ts";
import { statementsSql } from "./sqlite-source.ts";
import { storedStatement } from "./stored-statement.ts";

/**
 * Runs `work` on one chain in a transaction of its own. `db` was registered with `mayPrune` (`sqlite-functions.ts`) and
 * serves nothing else meanwhile.
 */
export async function withSqliteChain<R>(
  db: SqliteConnection,
  chain: ChainRef,
  work: (prunable: PrunableChain) => Promise<R>,
): Promise<R> {
  db.exec("begin immediate");
  try {
    const result = await work(prunableChain(db, chain));
    db.exec("commit");
    return result;
  } catch (error) {
    if (db.inTransaction) db.exec("rollback");
    throw error;
  }
}

function prunableChain(db: SqliteConnection, { kind, id }: ChainRef): PrunableChain {
  const bound = { kind, id };
  const statement = (seq: string): ChainStatement | undefined => {
    const found = db.prepare(`select statement from (${statementsSql}) where anchor_seq = (${seq})`).pluck();
    const text = found.get(bound) as string | undefined;
    return text === undefined ? undefined : storedStatement(JSON.parse(text));
  };
  return {
    // Whoever writes waits as long as the transaction takes.
    atOnce: 1_000,
    latest: async () => statement(`max(${highest("audit_anchors")}, ${highest("audit_prunes")})`),
    newestPrune: async () => {
      const record = statement(`select max(anchor_seq) from audit_prunes where ${ofChain}`);
      return record && isPrune(record) ? record : undefined;
    },
    lowestHeadAfter: async (moment) => {
      const lowest = db.prepare(
        `select min(head_chain_seq) from audit_anchors where ${ofChain} and anchored_at > @moment`,
      );
      return (lowest.pluck().get({ ...bound, moment }) as number | null) ?? undefined;
    },
    *entries() {
      for (const row of db.prepare(entriesSql).iterate(bound)) yield entryOf(row as StoredEntry);
    },
    prune: async (record) => {
      db.prepare(insertSql).run({ ...record, ...flags(record) });
      if (record.restates) return;
      const prefix = { ...bound, seq: record.prunedThroughSeq };
      db.prepare(`delete from audit_logs where id in (select audit_id from audit_chain where ${prefixOf})`).run(prefix);
      db.prepare(`delete from audit_chain where ${prefixOf}`).run(prefix);
    },
  };
}

const flags = ({ restates, breakCount }: PruneRecord) => ({
  restates: restates ? 1 : 0,
  breakCount: breakCount ?? null,
});

type StoredEntry = Record<keyof NonNullable<OldEntry["row"]>, string | null> & {
  rowId: string | null;
  chainSeq: number;
  auditId: string;
  contentHash: string;
  prevHash: string | null;
  chainHash: string;
};

function entryOf({ chainSeq, auditId, contentHash, prevHash, chainHash, rowId, ...row }: StoredEntry): OldEntry {
  return {
    ...{ chainSeq, auditId, contentHash, prevHash, chainHash },
    row: rowId === null ? null : (row as OldEntry["row"]),
  };
}

const ofChain = "chain_kind = @kind and chain_id = @id";
const highest = (table: string) => `coalesce((select max(anchor_seq) from ${table} where ${ofChain}), 0)`;
const prefixOf = `${ofChain} and chain_seq <= @seq`;

const snake = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const entriesSql = `
  select c.chain_seq as chainSeq, c.audit_id as auditId, c.content_hash as contentHash, c.prev_hash as prevHash,
    c.chain_hash as chainHash, l.id as rowId, l.checksum, ${contentFields.map((field) => `l.${snake(field)} as ${field}`).join(", ")}
  from audit_chain c left join audit_logs l on l.id = c.audit_id
  where c.chain_kind = @kind and c.chain_id = @id order by c.chain_seq`;

const insertSql = `
  insert into audit_prunes (chain_kind, chain_id, anchor_seq, prev_anchor_hash, pruned_through_seq, pruned_through_hash,
    pruned_count, cutoff, pruned_at, restates, break_count, signature, signing_key_id)
  values (@chainKind, @chainId, @anchorSeq, @prevAnchorHash, @prunedThroughSeq, @prunedThroughHash, @prunedCount,
    @cutoff, @prunedAt, @restates, @breakCount, @signature, @signingKeyId)`;

/** The newest unsigned record of every chain that has no other yet. */
export const sqliteUnsignedPrunes = (db: SqliteConnection): { chain: ChainRef; unsigned: UnsignedPrune }[] =>
  (db.prepare(unsignedSql).all() as (UnsignedPrune & { kind: ChainRef["kind"]; id: string })[]).map(
    ({ kind, id, ...unsigned }) => ({ chain: { kind, id }, unsigned }),
  );

const unsignedSql = `
  select u.chain_kind as kind, u.chain_id as id, u.pruned_through_seq as prunedThroughSeq,
    u.pruned_through_hash as prunedThroughHash, u.pruned_count as prunedCount, u.cutoff, u.pruned_at as prunedAt
  from audit_unsigned_prunes u
  where u.pruned_through_seq = (select max(n.pruned_through_seq) from audit_unsigned_prunes n
      where n.chain_kind = u.chain_kind and n.chain_id = u.chain_id)
    and not exists (select 1 from audit_prunes p where p.chain_kind = u.chain_kind and p.chain_id = u.chain_id)
  order by u.chain_id`;
