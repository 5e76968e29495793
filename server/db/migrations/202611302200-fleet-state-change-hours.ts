import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Changes of a device's state are counted by the hour as well (docs/fleet.md, "Heartbeat"). */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? postgres : rebuilt(dialect)),
};

const check = "check (kind in ('logs', 'eventlogs', 'state_change'))";

const postgres = [
  "alter table device_log_hours drop constraint device_log_hours_kind_check",
  `alter table device_log_hours add constraint device_log_hours_kind_check ${check}`,
];

/** SQLite changes a rule only with its table. */
const rebuilt = schemaText(`
create table device_log_hours_rebuilt (
  org_id {uuid} not null,
  device_id {uuid} not null,
  kind text not null,
  started_at {ts} not null,
  requests {int} not null,
  entries {int} not null,
  filtered {int} not null,
  primary key (org_id, device_id, kind),
  ${check}
) {strict};
insert into device_log_hours_rebuilt select * from device_log_hours;
drop table device_log_hours;
alter table device_log_hours_rebuilt rename to device_log_hours;
create index device_log_hours_started on device_log_hours (started_at);
`);
