import { type SchemaChange, schemaText } from "../schema-change.ts";

/** What happened, for whoever wants to be told, and how far each of them has come (docs/platform.md, "Events"). */
export const migration: SchemaChange = {
  statements: schemaText(`
create table events (
  seq {serial},
  position {bigint},
  id {uuid} not null,
  kind text not null,
  org_id {uuid},
  partner_id {uuid},
  site_id {uuid},
  subject_type text not null,
  subject_id {uuid} not null,
  data {json} not null,
  occurred_at {ts} not null
) {strict};
create index events_unnumbered on events (seq) where position is null;
create unique index events_position on events (position);
create index events_org on events (org_id, position);

create table event_cursors (
  consumer text primary key,
  position {bigint} not null,
  attempts {int} not null,
  retry_at {ts},
  set_aside {int} not null
) {strict};
insert into event_cursors (consumer, position, attempts, set_aside) values ('numbering', 0, 0, 0);
`),
};
