import { type SchemaChange, schemaText } from "../schema-change.ts";

/** What people are told, a row per person and tenant (docs/people.md, "Notifications"). */
export const migration: SchemaChange = {
  statements: schemaText(`
create table notifications (
  id {uuid} primary key,
  user_id {uuid} not null references users (id) on delete cascade,
  partner_id {uuid} references partners (id) on delete cascade,
  org_id {uuid},
  site_id {uuid},
  type text not null,
  priority text not null,
  title text not null,
  message text not null,
  link text,
  metadata {json} not null,
  more {int},
  read_at {ts},
  created_at {ts} not null,
  updated_at {ts} not null,
  check (org_id is null or partner_id is not null),
  check (site_id is null or org_id is not null),
  foreign key (partner_id, org_id) references organizations (partner_id, id) on delete cascade,
  foreign key (org_id, site_id) references sites (org_id, id) on delete cascade
) {strict};
create index notifications_of_person on notifications (user_id, created_at, id);
create index notifications_unread on notifications (user_id) where read_at is null;
create index notifications_of_type on notifications (user_id, type, created_at);
create index notifications_by_partner on notifications (partner_id, org_id);
create index notifications_by_site on notifications (org_id, site_id) where site_id is not null;
create index notifications_by_age on notifications (created_at);
`),
};
