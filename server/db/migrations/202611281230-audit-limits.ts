import type { SchemaChange } from "../schema-change.ts";

/**
 * What no retention and no statement about a chain can say, whoever writes it. A retention of minus a hundred years
 * emptied a chain; an anchor of an entry that does not exist breaks one for good. Rows from before are left as they
 * are where nothing may change them (`not valid`).
 */
export const migration: SchemaChange = {
  statements: (dialect) =>
    dialect === "postgres"
      ? [...postgresAuditLimits, ...postgresRetentionLimits]
      : [...sqliteAuditLimits, ...sqliteRetentionLimits],
};

const DAYS = "retention_days between 1 and 3650";
const ANCHOR = (row: string) => `${row}anchor_seq > 0 and ${row}head_chain_seq >= 0 and ${row}entry_count >= 0
    and (${row}head_chain_seq = 0) = (${row}head_chain_hash is null)`;
/** What nobody can have wanted becomes what an organization begins with: removing less is the safe side. */
const mend = `update audit_retention set retention_days = 365 where not (${DAYS})`;

export const postgresAuditLimits: string[] = [
  `alter table public.audit_anchors add constraint audit_anchors_possible check (${ANCHOR("")}) not valid`,
  "alter table public.audit_chain add constraint audit_chain_possible check (chain_seq > 0) not valid",
  `create function public.audit_anchor_holds() returns trigger language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
begin
  if new.head_chain_seq > 0 and not exists (select from public.audit_chain c
    where c.chain_kind = new.chain_kind and c.chain_id = new.chain_id and c.chain_seq = new.head_chain_seq
    and c.chain_hash = decode(new.head_chain_hash, 'hex')) then
    raise exception 'an anchor names an entry of its chain' using errcode = '23514';
  end if;
  return new;
end $$`,
  `create trigger audit_anchors_hold before insert on public.audit_anchors for each row
  execute function public.audit_anchor_holds()`,
  "alter table public.audit_anchors enable always trigger audit_anchors_hold",
  "revoke all on function public.audit_anchor_holds() from public",
];

/** The table of retentions belongs to the organizations, not to the log. */
export const postgresRetentionLimits: string[] = [
  mend,
  `alter table audit_retention add constraint audit_retention_days check (${DAYS})`,
];

const refuse = (reason: string) => `begin select raise(abort, '${reason}'); end`;

export const sqliteAuditLimits: string[] = [
  `create trigger audit_anchors_hold before insert on audit_anchors
  when not (${ANCHOR("new.")}) or new.head_chain_seq > 0 and not exists (select 1 from audit_chain
    where chain_kind = new.chain_kind and chain_id = new.chain_id and chain_seq = new.head_chain_seq
    and chain_hash = new.head_chain_hash) ${refuse("an anchor names an entry of its chain")}`,
  `create trigger audit_chain_possible before insert on audit_chain when new.chain_seq <= 0 ${refuse("entries are numbered from 1")}`,
];

export const sqliteRetentionLimits: string[] = [
  mend,
  ...["insert", "update"].map(
    (event) => `create trigger audit_retention_days_${event} before ${event} on audit_retention
  when not (new.${DAYS}) ${refuse("CHECK constraint failed: audit_retention_days")}`,
  ),
];
