import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * Rules of elevations, the signer groups that they name, and what holds where no rule matches
 * (docs/privileged-access.md). A rule of a site goes with the site and never becomes one of the whole organization.
 */
export const migration: SchemaChange = {
  statements: schemaText(`
create table signer_groups (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  name text not null,
  name_key text not null,
  description text,
  signers {json} not null,
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (org_id, id),
  unique (org_id, name_key)
) {strict};

create table pam_rules (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  site_id {uuid},
  name text not null,
  description text,
  verdict text not null check (verdict in ('auto_approve', 'auto_deny', 'require_approval', 'ignore')),
  priority {int} not null check (priority between 0 and 100000),
  enabled {bool} not null,
  match_signer text check (match_signer <> ''),
  match_signer_group_id {uuid},
  match_signer_thumbprint text check (length(match_signer_thumbprint) = 64),
  match_hash text check (length(match_hash) = 64),
  match_path_glob text check (match_path_glob <> ''),
  match_parent_image text check (match_parent_image <> ''),
  match_command_line text check (match_command_line <> ''),
  match_user text check (match_user <> ''),
  match_ad_group text check (match_ad_group <> ''),
  match_tool_name text check (match_tool_name <> ''),
  match_risk_tier {int} check (match_risk_tier between 0 and 4),
  match_negate {json},
  time_window {json},
  approval_duration_minutes {int} check (approval_duration_minutes between 1 and 1440),
  suspended_verdict text check (suspended_verdict = 'auto_approve'),
  reapproved_at {ts},
  reapproved_by_user_id {uuid} references users (id) on delete set null,
  created_at {ts} not null,
  updated_at {ts} not null,
  foreign key (org_id, site_id) references sites (org_id, id) on delete cascade,
  foreign key (org_id, match_signer_group_id) references signer_groups (org_id, id),
  check (suspended_verdict is null or verdict = 'require_approval')
) {strict};
create index pam_rules_order on pam_rules (org_id, priority, created_at, id);
create index pam_rules_site on pam_rules (org_id, site_id);
create index pam_rules_signer_group on pam_rules (org_id, match_signer_group_id);
create index pam_rules_reapproved_by on pam_rules (reapproved_by_user_id);

create table pam_configs (
  org_id {uuid} primary key references organizations (id),
  default_unmatched_verdict text not null check (default_unmatched_verdict in ('require_approval', 'auto_deny')),
  updated_at {ts} not null
) {strict};
`),
};
