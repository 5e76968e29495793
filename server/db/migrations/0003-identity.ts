import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * Users, memberships, roles and sessions (docs/people.md, docs/sign-in.md), API keys and enrollment keys
 * (docs/credentials.md).
 */
export const migration: SchemaChange = {
  statements: schemaText(`
create table users (
  id {uuid} primary key,
  email text not null unique,
  name text not null,
  avatar_url text,
  status text not null,
  password_hash text,
  password_changed_at {ts},
  mfa_secret text,
  mfa_last_step {bigint} not null,
  mfa_pending text,
  mfa_pending_expires_at {ts},
  is_platform_admin {bool} not null,
  last_login_at {ts},
  email_verified_at {ts},
  preferences {json} not null,
  failed_logins {int} not null,
  locked_until {ts},
  created_at {ts} not null,
  updated_at {ts} not null
) {strict};

create table recovery_codes (
  id {uuid} primary key,
  user_id {uuid} not null references users (id) on delete cascade,
  code_hash text not null,
  used_at {ts},
  created_at {ts} not null,
  unique (user_id, code_hash)
) {strict};

create table roles (
  id {uuid} primary key,
  scope text not null,
  partner_id {uuid} references partners (id),
  org_id {uuid} references organizations (id),
  name text not null,
  description text,
  is_system {bool} not null,
  force_mfa {bool} not null,
  parent_role_id {uuid} references roles (id),
  created_at {ts} not null,
  updated_at {ts} not null
) {strict};
create index roles_org on roles (org_id);
create index roles_partner on roles (partner_id);

create table role_permissions (
  role_id {uuid} not null references roles (id) on delete cascade,
  permission text not null,
  primary key (role_id, permission)
) {strict};

create table partner_users (
  id {uuid} primary key,
  partner_id {uuid} not null references partners (id),
  user_id {uuid} not null references users (id) on delete cascade,
  role_id {uuid} not null references roles (id),
  org_access text not null,
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (partner_id, user_id),
  unique (partner_id, id)
) {strict};
create index partner_users_user on partner_users (user_id);

create table partner_user_orgs (
  partner_id {uuid} not null,
  membership_id {uuid} not null,
  org_id {uuid} not null,
  primary key (partner_id, membership_id, org_id),
  foreign key (partner_id, membership_id) references partner_users (partner_id, id) on delete cascade,
  foreign key (partner_id, org_id) references organizations (partner_id, id)
) {strict};

create table organization_users (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  user_id {uuid} not null references users (id) on delete cascade,
  role_id {uuid} not null references roles (id),
  site_ids {json},
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (org_id, user_id)
) {strict};
create index organization_users_user on organization_users (user_id);

create table sessions (
  id {uuid} primary key,
  user_id {uuid} not null references users (id) on delete cascade,
  created_at {ts} not null,
  last_used_at {ts} not null,
  ip_address text,
  user_agent text,
  mfa_verified_at {ts},
  absolute_expires_at {ts} not null,
  revoked_at {ts},
  revoked_reason text
) {strict};
create index sessions_user on sessions (user_id, created_at);

create table refresh_tokens (
  id {uuid} primary key,
  session_id {uuid} not null references sessions (id) on delete cascade,
  token_hash text not null unique,
  created_at {ts} not null,
  expires_at {ts} not null,
  spent_at {ts}
) {strict};
create index refresh_tokens_session on refresh_tokens (session_id);

create table user_tokens (
  id {uuid} primary key,
  user_id {uuid} not null references users (id) on delete cascade,
  kind text not null,
  token_hash text not null unique,
  failures {int} not null,
  created_at {ts} not null,
  expires_at {ts} not null,
  used_at {ts},
  data {json} not null
) {strict};
create index user_tokens_user on user_tokens (user_id, kind);

create table api_keys (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  name text not null,
  key_prefix text not null,
  key_hash text not null unique,
  scopes {json} not null,
  expires_at {ts},
  rate_limit {int} not null,
  status text not null,
  principal_type text not null,
  principal_id {uuid},
  created_by {uuid} references users (id) on delete set null,
  last_used_at {ts},
  usage_count {bigint} not null,
  created_at {ts} not null,
  updated_at {ts} not null
) {strict};
create index api_keys_org on api_keys (org_id, created_at, id);

create table enrollment_keys (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  site_id {uuid},
  name text not null,
  key_hash text not null unique,
  enrollment_secret_hash text,
  max_usage {int},
  usage_count {int} not null,
  expires_at {ts} not null,
  created_by {uuid} references users (id) on delete set null,
  created_by_principal_id {uuid},
  created_at {ts} not null,
  updated_at {ts} not null,
  foreign key (org_id, site_id) references sites (org_id, id) on delete cascade,
  check (max_usage is null or usage_count <= max_usage)
) {strict};
create index enrollment_keys_org on enrollment_keys (org_id, created_at, id);
`),
};
