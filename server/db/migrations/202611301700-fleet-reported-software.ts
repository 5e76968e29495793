import type { DialectName } from "../dialect/index.ts";
import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * A device knows whether it has reported its software, which a condition on missing software asks of every device: looking
 * for the report of each took longer than all else of it. The database keeps it beside the reports, so that no writer
 * can forget it, and in the index in which devices of a partner are counted.
 */
export const migration: SchemaChange = {
  statements: (dialect) => [
    ...column(dialect),
    ...backfill[dialect],
    "drop index devices_partner_filters",
    `create index devices_partner_filters on devices
      (partner_id, status, os_type, device_role, org_id, site_id, id, software_reported)`,
    ...keepers[dialect],
  ],
};

const column = schemaText("alter table devices add column software_reported {bool} not null default false");

const reported = `exists (select 1 from device_software_reports r
  where r.org_id = devices.org_id and r.device_id = devices.id)`;

const backfill: Record<DialectName, string[]> = {
  sqlite: [`update devices set software_reported = 1 where ${reported}`],
  postgres: [`update devices set software_reported = true where ${reported}`],
};

const definer = "language plpgsql security definer set search_path = pg_catalog, pg_temp";

const keepers: Record<DialectName, string[]> = {
  sqlite: [
    `create trigger device_reported_software after insert on device_software_reports begin
  update devices set software_reported = 1 where org_id = new.org_id and id = new.device_id;
end`,
  ],
  postgres: [
    `create function rmm_private.note_reported_software() returns trigger ${definer} as $$
begin
  update public.devices set software_reported = true where org_id = new.org_id and id = new.device_id;
  return null;
end $$`,
    `create trigger device_reported_software after insert on public.device_software_reports
  for each row execute function rmm_private.note_reported_software()`,
    "alter table public.device_software_reports enable always trigger device_reported_software",
    "revoke all on function rmm_private.note_reported_software() from public",
  ],
};
