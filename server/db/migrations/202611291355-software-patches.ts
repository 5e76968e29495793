import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Patches that all tenants share by name, and what each device says of them (docs/software.md, "Shared patches"). */
export const migration: SchemaChange = {
  statements: (dialect) =>
    schemaText(`
create table patches (
  id {uuid} primary key,
  source text not null,
  identity text not null,
  unused_since {ts},
  unique (source, identity)
) {strict};

create unique index devices_place on devices (org_id, site_id, id);

create table device_patches (
  org_id {uuid} not null,
  site_id {uuid} not null,
  device_id {uuid} not null,
  patch_id {uuid} not null references patches (id),
  status text not null,
  source text not null,
  os_type text not null,
  external_id text,
  package_id text,
  title text not null,
  title_key text ${dialect === "postgres" ? 'collate "C"' : ""} not null,
  vendor text,
  installed_version text,
  available_version text,
  severity_rank {int} not null,
  category text,
  kb_number text,
  cve_ids {json} not null,
  requires_restart {bool} not null,
  size_bytes {float},
  release_date {ts},
  installed_at {ts},
  first_seen_at {ts} not null,
  status_changed_at {ts} not null,
  primary key (device_id, patch_id),
  foreign key (org_id, site_id, device_id) references devices (org_id, site_id, id) on update cascade on delete cascade
) {strict};
create index device_patches_org on device_patches (org_id, patch_id, source, title_key, site_id, status, os_type,
  severity_rank, release_date, first_seen_at);
create index device_patches_device on device_patches (org_id, site_id, device_id);
create index device_patches_patch on device_patches (patch_id, org_id);
create index device_patches_missing on device_patches (status_changed_at) where status = 'missing';
`)(dialect),
};
