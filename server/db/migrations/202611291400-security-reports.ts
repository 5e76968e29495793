import { type SchemaChange, schemaText } from "../schema-change.ts";

/** What protects devices, and threats that were found on them (docs/security.md). */
export const migration: SchemaChange = {
  statements: schemaText(`
create table device_security (
  org_id {uuid} not null,
  device_id {uuid} not null,
  provider_id text,
  provider_name text,
  provider_vendor text,
  provider_version text,
  definitions_version text,
  definitions_updated_at {ts},
  real_time_protection {bool},
  firewall_enabled {bool},
  firewall_profiles {json},
  encryption_status text,
  encryption_details {json},
  recovery_key_escrowed {bool},
  gatekeeper_enabled {bool},
  local_admins {json},
  password_policy {json},
  open_ports {json},
  last_scan_at {ts},
  last_scan_type text,
  threat_count {int} not null,
  status text,
  risk_level text,
  updated_at {ts} not null,
  primary key (org_id, device_id),
  foreign key (org_id, device_id) references devices (org_id, id) on update cascade on delete cascade,
  check ((status is null) = (risk_level is null))
) {strict};

create table device_threats (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  device_id {uuid},
  hostname text,
  external_id text,
  provider_id text,
  name text not null,
  category text,
  severity text not null,
  status text not null,
  raw_status text not null,
  file_path text,
  detected_at {ts} not null,
  removed_at {ts},
  created_at {ts} not null,
  updated_at {ts} not null,
  foreign key (org_id, device_id) references devices (org_id, id) on update cascade on delete cascade,
  check (status in ('active', 'quarantined', 'removed')),
  check ((device_id is null) = (hostname is not null))
) {strict};
create index device_threats_detected on device_threats (org_id, detected_at, id);
create index device_threats_device on device_threats (org_id, device_id, detected_at, id);
create unique index device_threats_open on device_threats (org_id, device_id, name, coalesce(file_path, ''))
  where status <> 'removed';
`),
};
