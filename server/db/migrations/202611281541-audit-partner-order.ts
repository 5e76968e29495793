import type { DialectName } from "../dialect/index.ts";
import type { SchemaChange } from "../schema-change.ts";
import { refuseStatement } from "./audit-postgres.ts";
import { refuse } from "./audit-sqlite.ts";

/**
 * Entries of a partner's organizations and its own in one order (docs/audit.md, "Reading entries"). The column is no
 * content and not hashed: it follows from the entry's owner, and verification compares it. Who reads an entry is decided
 * by its owner.
 */
export const migration: SchemaChange = {
  statements: (dialect) => [
    `alter table audit_logs add column reader_partner_id ${dialect === "sqlite" ? "text" : "uuid"}`,
    ...written[dialect],
    ...late[dialect],
    `create index audit_logs_reader on audit_logs (reader_partner_id, "timestamp" desc, id desc, org_id, partner_id)`,
  ],
};

const backfill = `update audit_logs set reader_partner_id = coalesce(partner_id,
  (select partner_id from organizations where organizations.id = audit_logs.org_id))
  where org_id is not null or partner_id is not null`;

/** Servers of an older version may write beside newer ones for a while; they share a Postgres alone. */
const late: Record<DialectName, string[]> = {
  sqlite: [],
  postgres: [
    `create function public.rmm_audit_reader() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.reader_partner_id := coalesce(new.partner_id, (select partner_id from public.organizations where id = new.org_id));
  return new;
end $$`,
    `create trigger audit_logs_reader before insert on public.audit_logs for each row
  when (new.reader_partner_id is null and (new.org_id is not null or new.partner_id is not null))
  execute function public.rmm_audit_reader()`,
    "alter table public.audit_logs enable always trigger audit_logs_reader",
  ],
};

/** Rows are never updated, but for this once. */
const written: Record<DialectName, string[]> = {
  sqlite: [
    "drop trigger audit_logs_no_update",
    backfill,
    `create trigger audit_logs_no_update before update on audit_logs ${refuse}`,
  ],
  postgres: [
    "drop trigger audit_logs_no_update on public.audit_logs",
    backfill,
    ...refuseStatement("audit_logs", "update"),
  ],
};
