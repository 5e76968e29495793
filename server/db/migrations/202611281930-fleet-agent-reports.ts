import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Disks and software of devices, as their agents report them (docs/fleet.md, "Inventory"). */
export const migration: SchemaChange = {
  statements: schemaText(`
create table device_disks (
  id {uuid} primary key,
  org_id {uuid} not null,
  device_id {uuid} not null,
  mount_point text not null,
  fs_type text,
  total_gb {float},
  used_gb {float},
  free_gb {float},
  used_percent {float},
  foreign key (org_id, device_id) references devices (org_id, id) on delete cascade
) {strict};
create index device_disks_device on device_disks (org_id, device_id);

create table device_software (
  id {uuid} primary key,
  org_id {uuid} not null,
  device_id {uuid} not null,
  name text not null,
  version text,
  vendor text,
  install_date text,
  install_location text,
  uninstall_string text,
  foreign key (org_id, device_id) references devices (org_id, id) on delete cascade
) {strict};
create index device_software_device on device_software (org_id, device_id);

create table device_software_reports (
  org_id {uuid} not null,
  device_id {uuid} not null,
  first_reported_at {ts} not null,
  primary key (org_id, device_id),
  foreign key (org_id, device_id) references devices (org_id, id) on delete cascade
) {strict};
`),
};
