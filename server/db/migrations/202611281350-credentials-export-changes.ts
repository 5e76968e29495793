import { type SchemaChange, schemaText } from "../schema-change.ts";
import { exportTriggersPostgres } from "./export-triggers-postgres.ts";
import { exportTriggersSqlite } from "./export-triggers-sqlite.ts";

/**
 * What exports need to know of every change (docs/credentials.md, "What counts as a change"). Triggers keep it, by the
 * clock of the database: no writer can forget to, and servers whose clocks differ lose no change. On Postgres they run
 * as the owner, and the server's own role only reads.
 *
 * - `export_rows`: what is exported, with the time since when and of the last change of what each export shows.
 * - `export_removals`: rows that went away from an organization and site.
 * - `export_org_reach`: since when an organization is open to partner principals, or no more.
 * - `export_principal_reach`: the same for a principal that is confined to chosen organizations, or was.
 */
const tables = schemaText(`
create table export_rows (
  kind text not null check (kind in ('organization', 'site', 'device')),
  id {uuid} not null,
  partner_id {uuid} not null,
  org_id {uuid} not null,
  site_id {uuid},
  first_at {ts} not null,
  changed_at {ts} not null,
  inventory_at {ts},
  placed_at {ts},
  primary key (kind, id)
) {strict};
create index export_rows_id on export_rows (partner_id, kind, id);
create index export_rows_changed on export_rows (partner_id, kind, changed_at, id);
create index export_rows_inventory on export_rows (partner_id, kind, inventory_at, id) where inventory_at is not null;
create index export_rows_placed on export_rows (partner_id, kind, placed_at, id) where placed_at is not null;

create table export_removals (
  seq {serial},
  kind text not null,
  row_id {uuid} not null,
  partner_id {uuid} not null,
  org_id {uuid} not null,
  site_id {uuid},
  first_at {ts} not null,
  removed_at {ts} not null
) {strict};
create index export_removals_time on export_removals (partner_id, kind, removed_at, row_id);
create index export_removals_age on export_removals (removed_at);

create table export_org_reach (
  org_id {uuid} primary key,
  partner_id {uuid} not null,
  reached {bool} not null,
  changed_at {ts} not null
) {strict};
create index export_org_reach_partner on export_org_reach (partner_id, changed_at);

create table export_principal_reach (
  principal_id {uuid} not null,
  org_id {uuid} not null,
  partner_id {uuid} not null,
  reached {bool} not null,
  changed_at {ts} not null,
  primary key (principal_id, org_id)
) {strict};
`);

/** What is there already counts as changed when its row last was. What was removed before is not known, but for devices. */
const present = schemaText(`
insert into export_rows (kind, id, partner_id, org_id, site_id, first_at, changed_at)
  select 'organization', id, partner_id, id, null, created_at, updated_at from organizations;
insert into export_rows (kind, id, partner_id, org_id, site_id, first_at, changed_at)
  select 'site', s.id, o.partner_id, s.org_id, s.id, s.created_at, s.updated_at
  from sites s join organizations o on o.id = s.org_id;
insert into export_rows (kind, id, partner_id, org_id, site_id, first_at, changed_at, inventory_at, placed_at)
  select 'device', d.id, o.partner_id, d.org_id, d.site_id, d.created_at, d.updated_at, d.updated_at, d.updated_at
  from devices d join organizations o on o.id = d.org_id where d.status <> 'decommissioned';
insert into export_removals (kind, row_id, partner_id, org_id, site_id, first_at, removed_at)
  select 'device', d.id, o.partner_id, d.org_id, d.site_id, d.created_at, d.updated_at
  from devices d join organizations o on o.id = d.org_id where d.status = 'decommissioned';
insert into export_org_reach (org_id, partner_id, reached, changed_at)
  select id, partner_id, deleted_at is null and status in ('active', 'trial'),
    case when deleted_at is null and status in ('active', 'trial') then created_at else coalesce(deleted_at, updated_at) end
  from organizations;
insert into export_principal_reach (principal_id, org_id, partner_id, reached, changed_at)
  select c.principal_id, c.org_id, c.partner_id, c.org_id is not null, p.created_at
  from partner_service_principal_orgs c join partner_service_principals p on p.id = c.principal_id
  where p.org_access = 'selected';
`);

export const migration: SchemaChange = {
  statements: (dialect) => [
    ...tables(dialect),
    ...present(dialect),
    ...(dialect === "postgres" ? exportTriggersPostgres : exportTriggersSqlite),
  ],
};
