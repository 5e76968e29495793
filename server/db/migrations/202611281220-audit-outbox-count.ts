import type { SchemaChange } from "../schema-change.ts";

/**
 * The outbox is counted, and an entry leaves it for the log alone. `audit_outbox_counts` adds up to the number of
 * entries that wait, at any moment: each insert adds in the row of its own connection (`lane`), so that no two writers
 * wait for each other, each removal subtracts in lane 0. Numbers of a sequence would not do: they have gaps wherever a
 * transaction was rolled back. A difference means that entries were taken away by somebody who first took the triggers down.
 */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? postgresOutboxCount : sqliteOutboxCount),
};

const moved = "an audit entry leaves the outbox for the log alone";
const appendOnly = "audit records are append-only";

const definer = `language plpgsql security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off`;

const functions = [
  `create function public.audit_outbox_count() returns trigger ${definer} as $$
begin
  insert into public.audit_outbox_counts as c (lane, entries)
    select pg_backend_pid(), count(*) from added having count(*) > 0
    on conflict (lane) do update set entries = c.entries + excluded.entries;
  return null;
end $$`,
  // Whoever stored something else under the entry's id has not moved it.
  `create function public.audit_outbox_moved() returns trigger ${definer} as $$
begin
  if exists (select from removed r where not exists (select from public.audit_logs l
    where l.id = r.audit_id and l.checksum = coalesce(r.checksum, l.checksum))) then
    raise exception '${moved}' using errcode = '42501';
  end if;
  update public.audit_outbox_counts set entries = entries - (select count(*) from removed) where lane = 0;
  return null;
end $$`,
  // A row that only this function can lock: an advisory lock is anybody's, and would stop the writer unseen.
  `create function public.audit_claim_outbox() returns boolean ${definer} as $$
begin
  perform from public.audit_outbox_counts where lane = 0 for update skip locked;
  return found;
end $$`,
  // Rows of connections that are gone become one.
  `create function public.audit_fold_outbox_counts() returns void ${definer} as $$
begin
  with gone as (
    delete from public.audit_outbox_counts c
    where c.lane > 0 and not exists (select from pg_stat_activity a where a.pid = c.lane) returning c.entries
  ) update public.audit_outbox_counts set entries = entries + (select coalesce(sum(g.entries), 0) from gone g) where lane = 0;
end $$`,
];

const always = (name: string, when: string) => [
  `create trigger ${name} ${when}`,
  `alter table public.audit_outbox enable always trigger ${name}`,
];

export const postgresOutboxCount: string[] = [
  "alter table public.audit_outbox add column checksum text",
  "create table public.audit_outbox_counts (lane bigint primary key, entries bigint not null) with (fillfactor = 50)",
  "insert into public.audit_outbox_counts (lane, entries) select 0, count(*) from public.audit_outbox",
  ...functions,
  ...always(
    "audit_outbox_count",
    `after insert on public.audit_outbox referencing new table as added
  for each statement execute function public.audit_outbox_count()`,
  ),
  ...always(
    "audit_outbox_moved",
    `after delete on public.audit_outbox referencing old table as removed
  for each statement execute function public.audit_outbox_moved()`,
  ),
  ...["update", "truncate"].flatMap((event) =>
    always(
      `audit_outbox_no_${event}`,
      `before ${event} on public.audit_outbox for each statement execute function public.audit_refuse()`,
    ),
  ),
  ...["audit_outbox_count()", "audit_outbox_moved()", "audit_claim_outbox()", "audit_fold_outbox_counts()"].map(
    (name) => `revoke all on function public.${name} from public`,
  ),
  "grant execute on function public.audit_claim_outbox(), public.audit_fold_outbox_counts() to rmm_system",
  "revoke all on public.audit_outbox, public.audit_outbox_counts from public, rmm_app, rmm_system",
  "grant insert on public.audit_outbox to rmm_app",
  "grant select, delete on public.audit_outbox to rmm_system",
  "grant select on public.audit_outbox_counts to rmm_system",
];

const count = (change: string) => `update audit_outbox_counts set entries = entries ${change} where lane = 0`;
const refuse = (reason: string) => `begin select raise(abort, '${reason}'); end`;

export const sqliteOutboxCount: string[] = [
  "alter table audit_outbox add column checksum text",
  "create table audit_outbox_counts (lane integer not null primary key, entries integer not null) strict",
  "insert into audit_outbox_counts (lane, entries) select 0, count(*) from audit_outbox",
  `create trigger audit_outbox_count after insert on audit_outbox begin ${count("+ 1")}; end`,
  `create trigger audit_outbox_no_replace before insert on audit_outbox
  when exists (select 1 from audit_outbox where id = new.id or audit_id = new.audit_id) ${refuse(appendOnly)}`,
  `create trigger audit_outbox_no_update before update on audit_outbox ${refuse(appendOnly)}`,
  `create trigger audit_outbox_no_delete before delete on audit_outbox
  when not exists (select 1 from audit_logs where id = old.audit_id and checksum = coalesce(old.checksum, checksum)) ${refuse(moved)}`,
  `create trigger audit_outbox_moved after delete on audit_outbox begin ${count("- 1")}; end`,
];
