import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * Configuration policies with their features and what they cover (docs/configuration-policies.md). An assignment belongs
 * to the organization of its target, so that it can name nothing of another one, and goes with its target.
 */
export const migration: SchemaChange = {
  statements: schemaText(`
create table configuration_policies (
  id {uuid} primary key,
  org_id {uuid} references organizations (id),
  partner_id {uuid} references partners (id),
  name text not null,
  description text,
  status text not null check (status in ('active', 'inactive', 'archived')),
  version {int} not null,
  created_by {uuid} references users (id) on delete set null,
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (org_id, id),
  unique (partner_id, id),
  check ((org_id is null) <> (partner_id is null))
) {strict};
create index configuration_policies_org on configuration_policies (org_id, created_at, id);
create index configuration_policies_partner on configuration_policies (partner_id, created_at, id);

create table configuration_policy_features (
  id {uuid} primary key,
  policy_id {uuid} not null references configuration_policies (id) on delete cascade,
  org_id {uuid},
  partner_id {uuid},
  type text not null,
  settings {json} not null,
  unique (policy_id, type),
  foreign key (org_id, policy_id) references configuration_policies (org_id, id) on delete cascade,
  foreign key (partner_id, policy_id) references configuration_policies (partner_id, id) on delete cascade,
  check ((org_id is null) <> (partner_id is null))
) {strict};
create index configuration_policy_features_org on configuration_policy_features (org_id, policy_id);
create index configuration_policy_features_partner on configuration_policy_features (partner_id, policy_id);

create table configuration_policy_assignments (
  id {uuid} primary key,
  policy_id {uuid} not null references configuration_policies (id) on delete cascade,
  org_id {uuid} references organizations (id),
  partner_id {uuid} references partners (id),
  level text not null check (level in ('device', 'device_group', 'site', 'organization', 'partner')),
  target_id {uuid} not null,
  site_id {uuid},
  group_id {uuid},
  device_id {uuid},
  priority {int} not null check (priority between 0 and 1000),
  role_filter {json},
  os_filter {json},
  assigned_by {uuid} references users (id) on delete set null,
  created_at {ts} not null,
  unique (policy_id, level, target_id),
  foreign key (org_id, site_id) references sites (org_id, id) on delete cascade,
  foreign key (org_id, group_id) references device_groups (org_id, id) on delete cascade,
  foreign key (org_id, device_id) references devices (org_id, id) on delete cascade,
  check ((org_id is null) <> (partner_id is null)),
  check ((level = 'partner') = (org_id is null)),
  check ((level = 'site') = (site_id is not null)),
  check ((level = 'device_group') = (group_id is not null)),
  check ((level = 'device') = (device_id is not null)),
  check (target_id = coalesce(device_id, group_id, site_id, org_id, partner_id))
) {strict};
create index configuration_policy_assignments_target on configuration_policy_assignments (target_id);
create index configuration_policy_assignments_site on configuration_policy_assignments (org_id, site_id);
create index configuration_policy_assignments_group on configuration_policy_assignments (org_id, group_id);
create index configuration_policy_assignments_device on configuration_policy_assignments (org_id, device_id);
create index configuration_policy_assignments_partner on configuration_policy_assignments (partner_id);
`),
};
