import { type SchemaChange, schemaText } from "../schema-change.ts";

/** What agents are told to do (docs/fleet.md, "Commands"). */
export const migration: SchemaChange = {
  statements: schemaText(`
create table device_commands (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  device_id {uuid},
  hostname text not null,
  type text not null,
  payload {json} not null,
  payload_sealed text,
  status text not null,
  target_role text not null,
  origin_kind text,
  origin_id {uuid},
  created_by {uuid} references users (id) on delete set null,
  queued_at {ts} not null,
  sent_at {ts},
  completed_at {ts},
  expires_at {ts} not null,
  run_ms {int} not null,
  outcome {json},
  answer_sealed text,
  updated_at {ts} not null,
  unique (org_id, id),
  foreign key (org_id, device_id) references devices (org_id, id),
  check (status in ('pending', 'sent', 'completed', 'failed', 'timeout', 'cancelled')),
  check ((sent_at is null) = (status in ('pending', 'cancelled'))),
  check ((completed_at is null) = (status in ('pending', 'sent')))
) {strict};
create index device_commands_device on device_commands (org_id, device_id, queued_at, id);
create index device_commands_open on device_commands (device_id, queued_at, id) where status in ('pending', 'sent');
create index device_commands_due on device_commands (expires_at) where status in ('pending', 'sent');
create index device_commands_ended on device_commands (completed_at);
create index device_commands_answers on device_commands (completed_at) where answer_sealed is not null;
create index device_commands_author on device_commands (created_by);
`),
};
