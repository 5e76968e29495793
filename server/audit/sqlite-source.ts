import type { SqliteConnection } from "../db/dialect/sqlite-library.ts";
import type { Anchor } from "./anchor-format.ts";
import type { ChainKind, ChainRef } from "./chain.ts";
import type { ChainSource, ChainVisitor, PruneRecord } from "./chain-source.ts";
import { canonicalParts, joinCanonical } from "./sqlite-canonical.ts";

const owned: Record<ChainKind, string> = {
  organization: "l.org_id = @id",
  partner: "l.org_id is null and l.partner_id = @id",
  system: "l.org_id is null and l.partner_id is null and @id is not null",
};

type WalkedRow = [
  seq: number,
  missingId: string | null,
  contentHash: string,
  prevHash: string | null,
  chainHash: string,
  intact: number | null,
  before: string,
  timestamp: string | null,
  after: string,
];

/**
 * A chain in a SQLite file. Takes its snapshot at once and keeps it until `close`; the connection must be used for
 * nothing else meanwhile. Walking is synchronous: call it in a worker thread.
 */
export function sqliteChainSource(db: SqliteConnection, chain: ChainRef): ChainSource {
  db.exec("begin");
  // A snapshot begins with the first read, not with `begin`.
  db.prepare("select 1 from audit_chain limit 1").get();
  const bound = { kind: chain.kind, id: chain.id };
  return {
    chain,
    prunes: async () => db.prepare(prunesSql).all(bound) as PruneRecord[],
    anchors: async (limit) => db.prepare(anchorsSql).all({ ...bound, limit }) as Anchor[],
    walk: async (visitor) => {
      const intact = walkEntries(db, chain, visitor);
      const rows = db.prepare(`select count(*) from audit_logs l where ${owned[chain.kind]}`).pluck();
      // Every intact entry accounts for one row of this owner; only when they do not add up is it worth asking which.
      if (rows.get({ id: chain.id }) === intact) return;
      for (const id of db.prepare(unsealedSql(chain.kind)).pluck().iterate(bound)) visitor.unsealedRow(id as string);
    },
    close: async () => {
      db.exec("rollback");
    },
  };
}

function walkEntries(db: SqliteConnection, chain: ChainRef, visitor: ChainVisitor): number {
  const rows = db.prepare(entriesSql(chain.kind)).raw().iterate({ kind: chain.kind, id: chain.id });
  let intactRows = 0;
  for (const row of rows as IterableIterator<WalkedRow>) {
    const [chainSeq, missingId, contentHash, prevHash, chainHash, intact, before, timestamp, after] = row;
    // The id stands at a fixed place of the text; every column less is time won, a million times.
    const auditId = missingId ?? before.slice(ID_FROM, ID_TO);
    const link = { chainSeq, auditId, contentHash, prevHash, chainHash };
    visitor.link(link);
    if (timestamp === null) visitor.missingRow(chainSeq, auditId);
    else visitor.row(link, joinCanonical(before, timestamp, after), intact === 1);
    if (intact === 1) intactRows += 1;
  }
  return intactRows;
}

const ID_FROM = '["al1","'.length;
const ID_TO = ID_FROM + 36;

const entriesSql = (kind: ChainKind) => `
  select c.chain_seq, case when l.id is null then c.audit_id end, c.content_hash, c.prev_hash, c.chain_hash,
    l.checksum = c.content_hash and ${owned[kind]}, ${canonicalParts("l")}
  from audit_chain c left join audit_logs l on l.id = c.audit_id
  where c.chain_kind = @kind and c.chain_id = @id order by c.chain_seq`;

const unsealedSql = (kind: ChainKind) => `
  select l.id from audit_logs l where ${owned[kind]} and not exists (
    select 1 from audit_chain c where c.audit_id = l.id and c.chain_kind = @kind and c.chain_id = @id)`;

const prunesSql = `
  select org_id as orgId, partner_id as partnerId, pruned_through_seq as prunedThroughSeq,
    pruned_through_hash as prunedThroughHash, pruned_count as prunedCount, cutoff, pruned_at as prunedAt
  from audit_prunes where chain_kind = @kind and chain_id = @id order by pruned_through_seq`;

const anchorsSql = `
  select anchor_seq as anchorSeq, chain_kind as chainKind, chain_id as chainId, head_chain_seq as headChainSeq,
    head_chain_hash as headChainHash, entry_count as entryCount, merkle_root as merkleRoot,
    prev_anchor_hash as prevAnchorHash, anchored_at as anchoredAt, signature, signing_key_id as signingKeyId
  from audit_anchors where chain_kind = @kind and chain_id = @id order by anchor_seq desc limit @limit`;
