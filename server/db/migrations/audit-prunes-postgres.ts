import { always, definer, lock, owners, refuseStatement, sealFunction } from "./audit-postgres.ts";

/**
 * Prune records that are signed and numbered among the anchors, on Postgres. Records from before stay in
 * `audit_unsigned_prunes`, which takes no more: they explain nothing until the retention worker restates the newest of
 * a chain in the new table. `audit_guard_delete` looks for the record of a removal under the name `audit_prunes`, and
 * so in the new table from here on.
 */

const renamed = [
  "alter table public.audit_prunes rename to audit_unsigned_prunes",
  "alter index public.audit_prunes_pkey rename to audit_unsigned_prunes_pkey",
  ...["update", "delete", "truncate"].map(
    (event) =>
      `alter trigger audit_prunes_no_${event} on public.audit_unsigned_prunes rename to audit_unsigned_prunes_no_${event}`,
  ),
];

const prunes = `create table public.audit_prunes (
  chain_kind text not null check (chain_kind = 'organization'),
  chain_id uuid not null,
  ${owners},
  anchor_seq bigint not null,
  prev_anchor_hash text,
  pruned_through_seq bigint not null,
  pruned_through_hash text not null,
  pruned_count bigint not null,
  cutoff timestamptz(3) not null,
  pruned_at timestamptz(3) not null,
  restates boolean not null default false,
  break_count bigint,
  signature text,
  signing_key_id text,
  check (cutoff <= pruned_at - interval '24 hours'),
  primary key (chain_kind, chain_id, anchor_seq)
)`;

const seal = sealFunction(
  "create or replace",
  `select p.through, decode(p.hash, 'hex') into seq, prev from (
      select pruned_through_seq as through, pruned_through_hash as hash from public.audit_prunes
        where chain_kind = kind and chain_id = chain
      union all select pruned_through_seq, pruned_through_hash from public.audit_unsigned_prunes
        where chain_kind = kind and chain_id = chain) p
      order by p.through desc limit 1;`,
);

/** One sequence over two tables, under the lock of the chain: no gap, no number far ahead, no place taken twice. */
const inSequence = `create function public.audit_in_sequence() returns trigger ${definer} as $$
declare locked boolean; highest bigint;
begin
  ${lock("new.chain_kind", "new.chain_id")};
  select greatest(
    (select max(a.anchor_seq) from public.audit_anchors a where a.chain_kind = new.chain_kind and a.chain_id = new.chain_id),
    (select max(p.anchor_seq) from public.audit_prunes p where p.chain_kind = new.chain_kind and p.chain_id = new.chain_id),
    0) into highest;
  if new.anchor_seq <> highest + 1 then
    raise exception 'anchors and prune records are numbered one after another' using errcode = '23505';
  end if;
  return new;
end $$`;

/**
 * Stores a record and removes what it says, in one statement. Nothing is removed that is not older than its cutoff, and
 * only a record that counts breaks passes over missing rows. A record that restates one from before removes nothing, and
 * is a chain's first.
 */
const remove = `create function public.audit_remove(record jsonb) returns void ${definer} as $$
declare kind text := record->>'chainKind'; chain uuid := (record->>'chainId')::uuid; locked boolean;
  through bigint := (record->>'prunedThroughSeq')::bigint; hash text := record->>'prunedThroughHash';
  older_than timestamptz := (record->>'cutoff')::timestamptz; removed bigint;
  restated boolean := coalesce((record->>'restates')::boolean, false);
begin
  ${lock("kind", "chain")};
  if restated then
    perform from public.audit_unsigned_prunes u
      where u.chain_kind = kind and u.chain_id = chain and u.pruned_through_seq = through and u.pruned_through_hash = hash
      and not exists (select from public.audit_unsigned_prunes n
        where n.chain_kind = kind and n.chain_id = chain and n.pruned_through_seq > through)
      and not exists (select from public.audit_prunes p where p.chain_kind = kind and p.chain_id = chain);
    if not found then raise exception 'there is no such prune record to restate' using errcode = '23514'; end if;
  else
    perform from public.audit_chain c
      where c.chain_kind = kind and c.chain_id = chain and c.chain_seq = through and encode(c.chain_hash, 'hex') = hash;
    if not found then raise exception 'the prune record names no entry of the chain' using errcode = '23514'; end if;
    perform from public.audit_chain c left join public.audit_logs l on l.id = c.audit_id
      where c.chain_kind = kind and c.chain_id = chain and c.chain_seq <= through
      and (l."timestamp" >= older_than or (l.id is null and record->>'breakCount' is null));
    if found then raise exception 'not everything up to there is older than the cutoff' using errcode = '23514'; end if;
    select count(*) into removed from public.audit_chain c
      where c.chain_kind = kind and c.chain_id = chain and c.chain_seq <= through;
    if removed <> (record->>'prunedCount')::bigint then
      raise exception 'the prune record counts other entries' using errcode = '23514';
    end if;
  end if;
  insert into public.audit_prunes (chain_kind, chain_id, anchor_seq, prev_anchor_hash, pruned_through_seq,
      pruned_through_hash, pruned_count, cutoff, pruned_at, restates, break_count, signature, signing_key_id)
    values (kind, chain, (record->>'anchorSeq')::bigint, record->>'prevAnchorHash', through, hash,
      (record->>'prunedCount')::bigint, older_than, (record->>'prunedAt')::timestamptz, restated,
      (record->>'breakCount')::bigint, record->>'signature', record->>'signingKeyId');
  if restated then return; end if;
  delete from public.audit_logs l using public.audit_chain c
    where c.chain_kind = kind and c.chain_id = chain and c.chain_seq <= through and l.id = c.audit_id;
  delete from public.audit_chain c where c.chain_kind = kind and c.chain_id = chain and c.chain_seq <= through;
end $$`;

/** The only way to remove for whoever does not own the tables: the server proves itself, as for an anchor. */
const prune = `create function public.audit_prune(statement text, key text, signature bytea) returns void ${definer} as $$
begin
  perform rmm_private.require_signature('audit-prune', statement, key, signature);
  perform public.audit_remove(statement::jsonb);
end $$`;

/** Retention recomputes what it removes, so it reads the record. */
const read = ["audit_logs", "audit_chain", "audit_anchors", "audit_prunes", "audit_unsigned_prunes"];

const triggers = [
  ...["update", "delete", "truncate"].flatMap((event) => refuseStatement("audit_prunes", event)),
  ...refuseStatement("audit_unsigned_prunes", "insert"),
  ...["audit_anchors", "audit_prunes"].flatMap((table) =>
    always(
      table,
      `${table}_in_sequence`,
      `before insert on public.${table} for each row execute function public.audit_in_sequence()`,
    ),
  ),
];

export const postgresSignedPrunes: string[] = [
  ...renamed,
  prunes,
  seal,
  inSequence,
  "drop function public.audit_prune(text, uuid, timestamptz)",
  remove,
  prune,
  ...triggers,
  "revoke all on function public.audit_in_sequence(), public.audit_remove(jsonb), public.audit_prune(text, text, bytea) from public, rmm_app",
  "revoke all on public.audit_prunes, public.audit_unsigned_prunes from public, rmm_app, rmm_system",
  "grant select on public.audit_prunes, public.audit_unsigned_prunes to rmm_system",
  "grant execute on function public.audit_prune(text, text, bytea) to rmm_retention",
  "grant usage on schema public to rmm_retention",
  ...read.flatMap((table) => [
    `grant select on public.${table} to rmm_retention`,
    `create policy retention_read on public.${table} for select to rmm_retention using (true)`,
  ]),
];
