import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * What agents log and the event logs of devices (docs/device-logs.md). As samples, they have no reference to the device,
 * which may leave them behind, nor to the organization, whose row every submission would lock. Ids grow with the time at
 * which they were stored, which is what is kept goes by.
 */
export const migration: SchemaChange = {
  statements: schemaText(`
create table device_logs (
  id {uuid} not null,
  org_id {uuid} not null,
  device_id {uuid} not null,
  timestamp {ts} not null,
  level text not null,
  component text not null,
  message text not null,
  fields {json},
  agent_version text,
  created_at {ts} not null,
  primary key (org_id, id),
  check (level in ('debug', 'info', 'warn', 'error'))
) {strict};
create index device_logs_device on device_logs (org_id, device_id, timestamp, id);

create table device_event_logs (
  id {uuid} not null,
  org_id {uuid} not null,
  device_id {uuid} not null,
  timestamp {ts} not null,
  level text not null,
  category text not null,
  source text not null,
  event_id text not null,
  message text not null,
  fields {json},
  created_at {ts} not null,
  primary key (org_id, id),
  check (level in ('info', 'warning', 'error', 'critical')),
  check (category in ('security', 'hardware', 'application', 'system'))
) {strict};
create unique index device_event_logs_record on device_event_logs (org_id, device_id, source, event_id);
create index device_event_logs_device on device_event_logs (org_id, device_id, timestamp, id);

create table device_log_hours (
  org_id {uuid} not null,
  device_id {uuid} not null,
  kind text not null,
  started_at {ts} not null,
  requests {int} not null,
  entries {int} not null,
  filtered {int} not null,
  primary key (org_id, device_id, kind),
  check (kind in ('logs', 'eventlogs'))
) {strict};
create index device_log_hours_started on device_log_hours (started_at);
`),
};
