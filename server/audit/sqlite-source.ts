import type { SqliteConnection } from "../db/dialect/sqlite-library.ts";
import { type ChainKind, type ChainRef, sha256 } from "./chain.ts";
import type { ChainSource, ChainVisitor } from "./chain-source.ts";
import { canonicalParts, joinCanonical } from "./sqlite-canonical.ts";
import { storedStatement } from "./stored-statement.ts";

const owned: Record<ChainKind, string> = {
  organization: "l.org_id = @id",
  partner: "l.org_id is null and l.partner_id = @id",
  system: "l.org_id is null and l.partner_id is null and @id is not null",
};

/**
 * Whose lists show an entry is not hashed: it follows from the owner, and is compared with it. Of an organization without
 * a row nobody knows the partner any more.
 */
const readers: Record<ChainKind, string> = {
  organization: "coalesce((select partner_id from organizations where id = @id), l.reader_partner_id)",
  partner: "@id",
  system: "null",
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
    *statements() {
      for (const [, text] of db.prepare(statementsSql).raw().iterate(bound) as IterableIterator<[number, string]>)
        yield storedStatement(JSON.parse(text));
    },
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
    else visitor.row(link, sha256(joinCanonical(before, timestamp, after)), intact === 1);
    if (intact === 1) intactRows += 1;
  }
  return intactRows;
}

const ID_FROM = '["al1","'.length;
const ID_TO = ID_FROM + 36;

const entriesSql = (kind: ChainKind) => `
  select c.chain_seq, case when l.id is null then c.audit_id end, c.content_hash, c.prev_hash, c.chain_hash,
    l.checksum = c.content_hash and ${owned[kind]} and l.reader_partner_id is ${readers[kind]}, ${canonicalParts("l")}
  from audit_chain c left join audit_logs l on l.id = c.audit_id
  where c.chain_kind = @kind and c.chain_id = @id order by c.chain_seq`;

const unsealedSql = (kind: ChainKind) => `
  select l.id from audit_logs l where ${owned[kind]} and not exists (
    select 1 from audit_chain c where c.audit_id = l.id and c.chain_kind = @kind and c.chain_id = @id)`;

/** Of the chain `@kind`, `@id`, by rising anchorSeq; `desc limit 1` may follow. */
export const statementsSql = `
  select anchor_seq, statement from (
    select anchor_seq, json_object('anchorSeq', anchor_seq, 'chainKind', chain_kind, 'chainId', chain_id,
      'headChainSeq', head_chain_seq, 'headChainHash', head_chain_hash, 'entryCount', entry_count,
      'merkleRoot', merkle_root, 'prevAnchorHash', prev_anchor_hash, 'anchoredAt', anchored_at,
      'signature', signature, 'signingKeyId', signing_key_id) as statement
    from audit_anchors where chain_kind = @kind and chain_id = @id
    union all
    select anchor_seq, json_object('type', 'prune', 'anchorSeq', anchor_seq, 'chainKind', chain_kind,
      'chainId', chain_id, 'prunedThroughSeq', pruned_through_seq, 'prunedThroughHash', pruned_through_hash,
      'prunedCount', pruned_count, 'cutoff', cutoff, 'prunedAt', pruned_at, 'prevAnchorHash', prev_anchor_hash,
      'restates', restates, 'breakCount', break_count, 'signature', signature, 'signingKeyId', signing_key_id)
    from audit_prunes where chain_kind = @kind and chain_id = @id
  ) order by anchor_seq`;
