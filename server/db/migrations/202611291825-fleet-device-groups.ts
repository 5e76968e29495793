import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * Groups of devices with their members and the log of these (docs/device-groups.md). A member belongs to the group's
 * organization as the device does: its rows go before the device may have another one, and a log entry then keeps the
 * name alone.
 */
export const migration: SchemaChange = {
  statements: schemaText(`
create table device_groups (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  site_id {uuid},
  name text not null,
  name_key text not null,
  description text,
  type text not null check (type in ('static', 'dynamic')),
  filter_conditions {json},
  filter_fields_used {json} not null,
  filter_group_ids {json} not null,
  filter_version {int} not null,
  by_clock {bool} not null,
  parent_id {uuid},
  last_evaluated_at {ts},
  last_evaluation_error text,
  created_by {uuid} references users (id) on delete set null,
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (org_id, id),
  unique (org_id, name_key),
  foreign key (org_id, site_id) references sites (org_id, id) on delete cascade,
  foreign key (org_id, parent_id) references device_groups (org_id, id),
  check ((type = 'dynamic') = (filter_conditions is not null))
) {strict};
create index device_groups_site on device_groups (org_id, site_id);
create index device_groups_parent on device_groups (org_id, parent_id);
create index device_groups_evaluated on device_groups (last_evaluated_at) where type = 'dynamic';

create table device_group_members (
  org_id {uuid} not null,
  group_id {uuid} not null,
  device_id {uuid} not null,
  is_pinned {bool} not null,
  added_at {ts} not null,
  added_by text not null check (added_by in ('manual', 'dynamic_rule', 'policy')),
  primary key (group_id, device_id),
  foreign key (org_id, group_id) references device_groups (org_id, id) on delete cascade,
  foreign key (org_id, device_id) references devices (org_id, id) on delete cascade
) {strict};
create index device_group_members_group on device_group_members (org_id, group_id, added_at, device_id);
create index device_group_members_device on device_group_members (org_id, device_id, group_id);

create table device_group_log (
  id {uuid} primary key,
  org_id {uuid} not null,
  group_id {uuid} not null,
  device_id {uuid},
  hostname text not null,
  display_name text,
  action text not null check (action in ('added', 'removed')),
  reason text not null check (reason in ('manual', 'filter_match', 'filter_unmatch', 'pinned', 'unpinned')),
  created_at {ts} not null,
  foreign key (org_id, group_id) references device_groups (org_id, id) on delete cascade,
  foreign key (org_id, device_id) references devices (org_id, id) on delete cascade
) {strict};
create index device_group_log_group on device_group_log (org_id, group_id, created_at, id);
create index device_group_log_device on device_group_log (org_id, device_id);
create index device_group_log_age on device_group_log (created_at);
`),
};
