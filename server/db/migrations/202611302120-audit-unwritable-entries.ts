import type { SchemaChange } from "../schema-change.ts";

/**
 * An entry that the log refuses again and again leaves the outbox for one that says so, under its id and with the hash of
 * what it said (docs/audit.md, "Outbox and writer").
 */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? postgresUnwritable : sqliteUnwritable),
};

const moved = "an audit entry leaves the outbox for the log alone";

/** The only details of such an entry, in the order of RFC 8785. */
const says = (details: string, checksum: string) =>
  `${details} like '{"writeError":{"code":"%","contentHash":"' || ${checksum} || '"}}'`;

export const postgresUnwritable: string[] = [
  `create or replace function public.audit_outbox_moved() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
begin
  if exists (select from removed r where not exists (select from public.audit_logs l where l.id = r.audit_id
    and (l.checksum = coalesce(r.checksum, l.checksum) or ${says("l.details", "r.checksum")}))) then
    raise exception '${moved}' using errcode = '42501';
  end if;
  update public.audit_outbox_counts set entries = entries - (select count(*) from removed) where lane = 0;
  return null;
end $$`,
];

export const sqliteUnwritable: string[] = [
  "drop trigger audit_outbox_no_delete",
  `create trigger audit_outbox_no_delete before delete on audit_outbox
  when not exists (select 1 from audit_logs where id = old.audit_id
    and (checksum = coalesce(old.checksum, checksum) or ${says("details", "old.checksum")}))
  begin select raise(abort, '${moved}'); end`,
];
