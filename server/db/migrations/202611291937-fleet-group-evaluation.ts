import { type SchemaChange, schemaText } from "../schema-change.ts";
import { groupTriggers } from "./group-triggers.ts";

/**
 * Which devices dynamic groups must look at again (docs/device-groups.md, "Dynamic groups").
 *
 * - `device_group_fields`: what the conditions of an organization's groups speak of; `groupId:<id>` of a named group.
 * - `device_group_due`: what has changed since. Without a device: of all devices; with a group: of this group alone.
 */
export const migration: SchemaChange = {
  statements: (dialect) => [
    ...schemaText(`
alter table device_groups add column attempted_at {ts};
create index device_groups_attempted on device_groups (attempted_at) where type = 'dynamic';
drop index device_groups_evaluated;

create table device_group_fields (
  org_id {uuid} not null references organizations (id),
  field text not null,
  primary key (org_id, field)
) {strict};

create table device_group_due (
  seq {serial},
  org_id {uuid} not null,
  device_id {uuid},
  group_id {uuid},
  field text not null,
  origin text not null,
  claimed_at {ts}
) {strict};
create index device_group_due_claimed on device_group_due (claimed_at, seq);
create index device_group_due_device on device_group_due (org_id, device_id, field, origin);
`)(dialect),
    ...groupTriggers(dialect),
  ],
};
