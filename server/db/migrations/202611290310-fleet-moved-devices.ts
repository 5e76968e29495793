import type { DialectName } from "../dialect/index.ts";
import { type SchemaChange, schemaText } from "../schema-change.ts";
import { exportTriggersSqlite } from "./export-triggers-sqlite.ts";

/**
 * What a device that moves to another organization leaves behind, and what goes along (docs/fleet.md, "Moving to another
 * organization"). What describes the machine follows its row's key. Availability loses the device and keeps its name.
 * Samples, which nobody reads but through the device in its organization, have no reference to it: one to the
 * organization would make every heartbeat lock that row.
 */
export const migration: SchemaChange = {
  statements: (dialect) => [...changes[dialect](dialect), ...indexes(dialect)],
};

const follows = "foreign key (org_id, device_id) references devices (org_id, id) on update cascade on delete cascade";

/** Columns of the tables whose rows go along. */
const describing = {
  device_hardware: `org_id {uuid} not null, device_id {uuid} not null, manufacturer text, model text, serial_number text,
  cpu_model text, cpu_cores {int}, cpu_threads {int}, ram_total_mb {float}, disk_total_gb {float}, gpu_model text,
  bios_version text, updated_at {ts} not null, primary key (org_id, device_id)`,
  device_interfaces: `id {uuid} primary key, org_id {uuid} not null, device_id {uuid} not null, interface_name text not null,
  mac_address text, ip_address text, subnet_mask text, public_ip text, is_primary_interface {bool} not null`,
  device_disks: `id {uuid} primary key, org_id {uuid} not null, device_id {uuid} not null, mount_point text not null,
  fs_type text, total_gb {float}, used_gb {float}, free_gb {float}, used_percent {float}`,
  device_software: `id {uuid} primary key, org_id {uuid} not null, device_id {uuid} not null, name text not null,
  version text, vendor text, install_date text, install_location text, uninstall_string text`,
  device_software_reports: `org_id {uuid} not null, device_id {uuid} not null, first_reported_at {ts} not null,
  primary key (org_id, device_id)`,
};

/** Columns of the tables whose rows stay. */
const happened = {
  device_metrics: `org_id {uuid} not null, device_id {uuid} not null, timestamp {ts} not null, cpu_percent {float} not null,
  ram_percent {float} not null, disk_percent {float} not null, extra {json} not null,
  primary key (org_id, device_id, timestamp)`,
  device_metric_hours: `org_id {uuid} not null, device_id {uuid} not null, hour {ts} not null, samples {int} not null,
  cpu_percent {float} not null, ram_percent {float} not null, disk_percent {float} not null, extra {json} not null,
  primary key (org_id, device_id, hour)`,
};

const left = "check ((device_id is null) = (hostname is not null))";

/** SQLite changes a key only with its table. */
const rebuilt = (table: string, columns: string, taken = "*") => `
create table ${table}_rebuilt (${columns}) {strict};
insert into ${table}_rebuilt select ${taken} from ${table};
drop table ${table};
alter table ${table}_rebuilt rename to ${table};
`;

const changes: Record<DialectName, (dialect: DialectName) => readonly string[]> = {
  postgres: schemaText(
    [
      ...Object.keys(describing).map(
        (table) => `
alter table ${table} drop constraint ${table}_org_id_device_id_fkey;
alter table ${table} add constraint ${table}_org_id_device_id_fkey ${follows};
`,
      ),
      ...Object.keys(happened).map((table) => `alter table ${table} drop constraint ${table}_org_id_device_id_fkey;`),
      `alter table device_availability alter column device_id drop not null;
alter table device_availability add column hostname text;
alter table device_availability add ${left};`,
    ].join("\n"),
  ),
  sqlite: (dialect) => [
    ...schemaText(
      [
        ...Object.entries(describing).map(([table, columns]) => rebuilt(table, `${columns}, ${follows}`)),
        ...Object.entries(happened).map(([table, columns]) => rebuilt(table, columns)),
        rebuilt(
          "device_availability",
          `id {uuid} primary key, org_id {uuid} not null, device_id {uuid}, state text not null, at {ts} not null,
  hostname text, foreign key (org_id, device_id) references devices (org_id, id) on delete cascade, ${left}`,
          "id, org_id, device_id, state, at, null",
        ),
        `create index device_interfaces_device on device_interfaces (org_id, device_id);
create index device_disks_device on device_disks (org_id, device_id);
create index device_software_device on device_software (org_id, device_id);
create index device_availability_device on device_availability (org_id, device_id, at);`,
      ].join("\n"),
    )(dialect),
    // They went with the tables they stood on.
    ...exportTriggersSqlite.filter((text) => /\bon device_(hardware|interfaces)\b/.test(text)),
  ],
};

const indexes = schemaText(
  "create index device_availability_left on device_availability (at) where device_id is null;",
);
