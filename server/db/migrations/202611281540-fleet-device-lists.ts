import type { DialectName } from "../dialect/index.ts";
import type { SchemaChange } from "../schema-change.ts";

/**
 * What lists of a whole partner's devices are ordered and filtered by stands in one index per order (docs/fleet.md,
 * "Listing devices"). A device's partner is that of its organization: triggers keep it, no writer sets it.
 */
export const migration: SchemaChange = {
  statements: (dialect) => [...columns[dialect], backfill[dialect], ...keepers[dialect], ...indexes(dialect)],
};

const columns: Record<DialectName, string[]> = {
  sqlite: [
    "alter table devices add column partner_id text",
    // No generated columns: a copy of the file is made by programs that do not know our function.
    "alter table devices add column hostname_key text",
    "alter table devices add column display_key text",
  ],
  postgres: [
    "alter table devices add column partner_id uuid",
    `alter table devices add column hostname_key text collate "C" generated always as (fold(hostname)) stored,
      add column display_key text collate "C" generated always as (fold(display_name)) stored`,
  ],
};

const partner = "partner_id = (select partner_id from organizations where organizations.id = devices.org_id)";
const names = "hostname_key = fold(hostname), display_key = fold(display_name)";

const backfill: Record<DialectName, string> = {
  sqlite: `update devices set ${partner}, ${names}`,
  postgres: `update devices set ${partner}`,
};

const keep = (what: string) => `begin
  update devices set ${what} where id = new.id;
end`;

const keepers: Record<DialectName, string[]> = {
  sqlite: [
    `create trigger devices_made after insert on devices ${keep(`${partner}, ${names}`)}`,
    `create trigger devices_moved after update of org_id on devices when old.org_id <> new.org_id ${keep(partner)}`,
    `create trigger devices_named after update of hostname, display_name on devices ${keep(names)}`,
  ],
  postgres: [
    `create function public.rmm_device_partner() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  select partner_id into new.partner_id from public.organizations where id = new.org_id;
  return new;
end $$`,
    `create trigger devices_partner before insert or update of org_id, partner_id on public.devices
  for each row execute function public.rmm_device_partner()`,
    "alter table public.devices enable always trigger devices_partner",
  ],
};

/** Everything a filter asks for: an entry that is passed over costs no look at its row. */
const filtered = "site_id, status, os_type, device_role";

function indexes(dialect: DialectName): string[] {
  // Devices without a key come last, whichever way the list runs; SQLite does that by itself going down.
  const down = dialect === "postgres" ? "desc nulls last" : "desc";
  return [
    `create index devices_partner_seen on devices (partner_id, last_seen_at ${down}, id desc, org_id, ${filtered})`,
    `create index devices_partner_enrolled on devices (partner_id, enrolled_at ${down}, id desc, org_id, ${filtered})`,
    `create index devices_partner_hostname on devices (partner_id, hostname_key, id, org_id, ${filtered})`,
    `create index devices_org_hostname on devices (org_id, hostname_key, id, display_key, ${filtered})`,
    `create index devices_org_filters on devices (org_id, ${filtered}, id)`,
    "drop index devices_hostname",
    "drop index devices_site",
  ];
}
