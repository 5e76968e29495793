import { chainId, chainKind, owners, refuse, sealTrigger } from "./audit-sqlite.ts";

/**
 * Prune records that are signed and numbered among the anchors, on SQLite. Records from before stay in
 * `audit_unsigned_prunes`, which takes no more: they explain nothing until the retention worker restates the newest of
 * a chain in the new table.
 */

const dropped = [
  "audit_logs_seal",
  "audit_logs_no_delete",
  "audit_chain_no_delete",
  "audit_prunes_no_replace",
  "audit_prunes_no_update",
  "audit_prunes_no_delete",
];

const prunes = `create table audit_prunes (
  chain_kind text not null check (chain_kind = 'organization'),
  chain_id text not null,
  ${owners},
  anchor_seq integer not null,
  prev_anchor_hash text,
  pruned_through_seq integer not null,
  pruned_through_hash text not null,
  pruned_count integer not null,
  cutoff text not null,
  pruned_at text not null,
  restates integer not null default 0,
  break_count integer,
  signature text,
  signing_key_id text,
  check (cutoff <= strftime('%Y-%m-%dT%H:%M:%fZ', pruned_at, '-1 day')),
  primary key (chain_kind, chain_id, anchor_seq)
) strict, without rowid`;

const highest = (table: string) =>
  `coalesce((select max(anchor_seq) from ${table} where chain_kind = new.chain_kind and chain_id = new.chain_id), 0)`;

/** Refuses a second statement for one place too, whatever the conflict clause of the insert. */
const inSequence = (table: string) => `create trigger ${table}_in_sequence before insert on ${table}
  when new.anchor_seq <> 1 + max(${highest("audit_anchors")}, ${highest("audit_prunes")})
  begin select raise(abort, 'anchors and prune records are numbered one after another'); end`;

const guards = [
  `create trigger audit_logs_no_delete before delete on audit_logs
  when not audit_may_prune() or not exists (
    select 1 from audit_chain c join audit_prunes p on p.chain_kind = c.chain_kind and p.chain_id = c.chain_id
    where c.audit_id = old.id and c.chain_seq <= p.pruned_through_seq and old.timestamp < p.cutoff) ${refuse}`,
  `create trigger audit_chain_no_delete before delete on audit_chain
  when not audit_may_prune() or not exists (
    select 1 from audit_prunes p where p.chain_kind = old.chain_kind and p.chain_id = old.chain_id
    and old.chain_seq <= p.pruned_through_seq) ${refuse}`,
  `create trigger audit_prunes_no_insert before insert on audit_prunes when not audit_may_prune() ${refuse}`,
  `create trigger audit_prunes_no_update before update on audit_prunes ${refuse}`,
  `create trigger audit_prunes_no_delete before delete on audit_prunes ${refuse}`,
  ...["insert", "update", "delete"].map(
    (event) => `create trigger audit_unsigned_prunes_no_${event} before ${event} on audit_unsigned_prunes ${refuse}`,
  ),
];

/** A chain that was emptied goes on from its newest prune record, also while that is not restated yet. */
const afterPrune = (column: "pruned_through_seq" | "pruned_through_hash") => {
  const newest = (table: string) => `(select ${column} from ${table}
    where chain_kind = ${chainKind} and chain_id = ${chainId} order by pruned_through_seq desc limit 1)`;
  return `${newest("audit_prunes")}, ${newest("audit_unsigned_prunes")}`;
};

export const sqliteSignedPrunes: string[] = [
  ...dropped.map((name) => `drop trigger ${name}`),
  "alter table audit_prunes rename to audit_unsigned_prunes",
  prunes,
  ...guards,
  inSequence("audit_anchors"),
  inSequence("audit_prunes"),
  sealTrigger(afterPrune("pruned_through_seq"), afterPrune("pruned_through_hash")),
];
