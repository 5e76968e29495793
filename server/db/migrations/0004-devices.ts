import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Devices and what their agents report (docs/fleet.md). */
export const migration: SchemaChange = {
  statements: schemaText(`
create table devices (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  site_id {uuid},
  agent_id text unique,
  hostname text not null,
  display_name text,
  os_type text not null,
  os_version text not null,
  os_build text,
  architecture text not null,
  agent_version text not null,
  device_role text not null,
  device_role_source text not null,
  is_virtual {bool} not null,
  status text not null,
  last_seen_at {ts},
  last_seen_ip text,
  enrolled_at {ts},
  tags {json} not null,
  custom_fields {json} not null,
  last_user text,
  uptime_seconds {bigint},
  is_headless {bool} not null,
  pending_reboot {bool} not null,
  watchdog_status text,
  watchdog_version text,
  watchdog_seen_at {ts},
  main_agent_silent_since {ts},
  maintenance_until {ts},
  quarantined_at {ts},
  quarantined_reason text,
  agent_token_hash text unique,
  watchdog_token_hash text unique,
  previous_agent_token_hash text unique,
  previous_watchdog_token_hash text unique,
  previous_tokens_expire_at {ts},
  tokens_issued_at {ts},
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (org_id, id),
  foreign key (org_id, site_id) references sites (org_id, id),
  check (site_id is not null or status = 'decommissioned')
) {strict};
create index devices_seen on devices (org_id, last_seen_at, id);
create index devices_hostname on devices (org_id, hostname, id);
create index devices_site on devices (org_id, site_id);
create index devices_status on devices (status, last_seen_at);
create index devices_watchdog on devices (watchdog_seen_at) where watchdog_status in ('connected', 'failover');
create index devices_maintenance on devices (maintenance_until) where status = 'maintenance';

create table device_hardware (
  org_id {uuid} not null,
  device_id {uuid} not null,
  manufacturer text,
  model text,
  serial_number text,
  cpu_model text,
  cpu_cores {int},
  cpu_threads {int},
  ram_total_mb {float},
  disk_total_gb {float},
  gpu_model text,
  bios_version text,
  updated_at {ts} not null,
  primary key (org_id, device_id),
  foreign key (org_id, device_id) references devices (org_id, id) on delete cascade
) {strict};

create table device_interfaces (
  id {uuid} primary key,
  org_id {uuid} not null,
  device_id {uuid} not null,
  interface_name text not null,
  mac_address text,
  ip_address text,
  subnet_mask text,
  public_ip text,
  is_primary_interface {bool} not null,
  foreign key (org_id, device_id) references devices (org_id, id) on delete cascade
) {strict};
create index device_interfaces_device on device_interfaces (org_id, device_id);

create table device_metrics (
  org_id {uuid} not null,
  device_id {uuid} not null,
  timestamp {ts} not null,
  cpu_percent {float} not null,
  ram_percent {float} not null,
  disk_percent {float} not null,
  extra {json} not null,
  primary key (org_id, device_id, timestamp),
  foreign key (org_id, device_id) references devices (org_id, id) on delete cascade
) {strict};

create table device_availability (
  id {uuid} primary key,
  org_id {uuid} not null,
  device_id {uuid} not null,
  state text not null,
  at {ts} not null,
  foreign key (org_id, device_id) references devices (org_id, id) on delete cascade
) {strict};
create index device_availability_device on device_availability (org_id, device_id, at);

create table device_source_ips (
  org_id {uuid} not null,
  device_id {uuid} not null,
  ip text not null,
  audited_at {ts} not null,
  primary key (org_id, device_id, ip),
  foreign key (org_id, device_id) references devices (org_id, id) on delete cascade
) {strict};
create index device_source_ips_age on device_source_ips (audited_at);
`),
};
