import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Means of samples that are older than a month (docs/fleet.md, "Samples"). */
export const migration: SchemaChange = {
  statements: schemaText(`
create table device_metric_hours (
  org_id {uuid} not null,
  device_id {uuid} not null,
  hour {ts} not null,
  samples {int} not null,
  cpu_percent {float} not null,
  ram_percent {float} not null,
  disk_percent {float} not null,
  extra {json} not null,
  primary key (org_id, device_id, hour),
  foreign key (org_id, device_id) references devices (org_id, id) on delete cascade
) {strict};
`),
};
