import { canonicalParts } from "../../audit/sqlite-canonical.ts";

/**
 * The audit tables on SQLite. One writer at a time and triggers inside the statement's transaction give what the
 * deferred trigger gives on Postgres: a row and its chain entry are stored together or not at all, and no two
 * entries follow the same one.
 *
 * - The hash comes from `audit_seal`, a function of `server/audit/sqlite-functions.ts`. A program that opens the
 *   file without it can not insert. It also refuses a row whose `checksum` is not the hash of its content.
 * - `(chain, prev_hash)` is unique without an index of its own: every entry's predecessor is the one at `chain_seq - 1`,
 *   and that key is unique. A random-order index on hashes halved the append rate.
 * - WITHOUT ROWID is part of the wall: `INSERT OR REPLACE` with a rowid deletes the old row without any trigger.
 * - `INSERT OR REPLACE` and `OR IGNORE` also rule the statements inside triggers, so every conflict is looked for
 *   and refused before the insert, whatever the conflict clause.
 */

export const chainKind = `case when new.org_id is not null then 'organization' when new.partner_id is not null then 'partner' else 'system' end`;
export const chainId = `coalesce(new.org_id, new.partner_id, '00000000-0000-0000-0000-000000000000')`;
const now = `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`;
const chainColumns = `chain_kind text not null check (chain_kind in ('system', 'partner', 'organization')),
  chain_id text not null`;
export const owners = `org_id text generated always as (case chain_kind when 'organization' then chain_id end) stored,
  partner_id text generated always as (case chain_kind when 'partner' then chain_id end) stored`;
export const refuse = "begin select raise(abort, 'audit records are append-only'); end";

const tables = [
  `create table audit_outbox (
  id integer primary key autoincrement,
  audit_id text not null unique,
  org_id text,
  partner_id text,
  entry text not null,
  created_at text not null default (${now})
) strict`,
  `create table audit_logs (
  id text not null primary key,
  org_id text,
  partner_id text,
  timestamp text not null,
  actor_type text not null,
  actor_id text,
  actor_email text,
  action text not null,
  resource_type text,
  resource_id text,
  resource_name text,
  details text not null,
  ip_address text,
  user_agent text,
  result text not null,
  error_message text,
  checksum text not null,
  prev_checksum text,
  check (org_id is null or partner_id is null)
) strict, without rowid`,
  "create index audit_logs_org on audit_logs (org_id, timestamp desc, id desc) where org_id is not null",
  "create index audit_logs_partner on audit_logs (partner_id, timestamp desc, id desc) where partner_id is not null",
  "create index audit_logs_system on audit_logs (timestamp desc, id desc) where org_id is null and partner_id is null",
  "create index audit_logs_time on audit_logs (timestamp desc, id desc)",
  `create table audit_chain (
  chain_kind text not null,
  chain_id text not null,
  chain_seq integer not null,
  audit_id text not null unique,
  content_hash text not null,
  prev_hash text,
  chain_hash text not null,
  sealed_at text not null,
  primary key (chain_kind, chain_id, chain_seq)
) strict, without rowid`,
  `create table audit_anchors (
  ${chainColumns},
  ${owners},
  anchor_seq integer not null,
  head_chain_seq integer not null,
  head_chain_hash text,
  entry_count integer not null,
  merkle_root text,
  prev_anchor_hash text,
  anchored_at text not null,
  signature text,
  signing_key_id text,
  primary key (chain_kind, chain_id, anchor_seq)
) strict, without rowid`,
  `create table audit_prunes (
  ${chainColumns},
  ${owners},
  pruned_through_seq integer not null,
  pruned_through_hash text not null,
  pruned_count integer not null,
  cutoff text not null,
  pruned_at text not null,
  primary key (chain_kind, chain_id, pruned_through_seq)
) strict, without rowid`,
];

const newest = (column: string, table: string, position: string) =>
  `(select ${column} from ${table} where chain_kind = ${chainKind} and chain_id = ${chainId} order by ${position} desc limit 1)`;
/**
 * Makes the sealing trigger; `pruned…` are the expressions that tell where a chain goes on that was emptied. Each is
 * looked up twice, in the key and in the hash: two seeks cost less than the temporary table of a `from`.
 */
export function sealTrigger(prunedSeq: string, prunedHash: string): string {
  const nextSeq = `coalesce(${newest("chain_seq", "audit_chain", "chain_seq")},
    ${prunedSeq}, 0) + 1`;
  const prevHash = `coalesce(${newest("chain_hash", "audit_chain", "chain_seq")},
    ${prunedHash})`;
  return `create trigger audit_logs_seal after insert on audit_logs begin
  insert into audit_chain (chain_kind, chain_id, chain_seq, audit_id, content_hash, prev_hash, chain_hash, sealed_at)
  values (${chainKind}, ${chainId}, ${nextSeq}, new.id, new.checksum, ${prevHash},
    audit_seal(${chainKind}, ${chainId}, ${nextSeq}, ${prevHash}, new.checksum, ${canonicalParts("new")}),
    ${now});
end`;
}

const seal = sealTrigger(
  newest("pruned_through_seq", "audit_prunes", "pruned_through_seq"),
  newest("pruned_through_hash", "audit_prunes", "pruned_through_seq"),
);

/** Deletes pass on the retention worker's connection alone, and only below a prune record already written. */
const guards = [
  `create trigger audit_logs_no_replace before insert on audit_logs
  when exists (select 1 from audit_logs where id = new.id) ${refuse}`,
  `create trigger audit_logs_no_update before update on audit_logs ${refuse}`,
  `create trigger audit_logs_no_delete before delete on audit_logs
  when not audit_may_prune() or not exists (
    select 1 from audit_chain c join audit_prunes p on p.chain_kind = c.chain_kind and p.chain_id = c.chain_id
    where c.audit_id = old.id and c.chain_seq <= p.pruned_through_seq and old.timestamp < p.cutoff) ${refuse}`,
  `create trigger audit_chain_no_replace before insert on audit_chain
  when exists (select 1 from audit_chain where audit_id = new.audit_id)
    or exists (select 1 from audit_chain
      where chain_kind = new.chain_kind and chain_id = new.chain_id and chain_seq = new.chain_seq)
    or not exists (select 1 from audit_logs where id = new.audit_id) ${refuse}`,
  `create trigger audit_chain_no_update before update on audit_chain ${refuse}`,
  `create trigger audit_chain_no_delete before delete on audit_chain
  when not audit_may_prune() or not exists (
    select 1 from audit_prunes p where p.chain_kind = old.chain_kind and p.chain_id = old.chain_id
    and old.chain_seq <= p.pruned_through_seq) ${refuse}`,
  `create trigger audit_anchors_no_replace before insert on audit_anchors
  when exists (select 1 from audit_anchors
    where chain_kind = new.chain_kind and chain_id = new.chain_id and anchor_seq = new.anchor_seq) ${refuse}`,
  `create trigger audit_anchors_no_update before update on audit_anchors ${refuse}`,
  `create trigger audit_anchors_no_delete before delete on audit_anchors ${refuse}`,
  `create trigger audit_prunes_no_replace before insert on audit_prunes
  when not audit_may_prune() or exists (select 1 from audit_prunes
    where chain_kind = new.chain_kind and chain_id = new.chain_id and pruned_through_seq = new.pruned_through_seq) ${refuse}`,
  `create trigger audit_prunes_no_update before update on audit_prunes ${refuse}`,
  `create trigger audit_prunes_no_delete before delete on audit_prunes ${refuse}`,
];

export const sqliteAuditTables: string[] = [...tables, ...guards, seal];
