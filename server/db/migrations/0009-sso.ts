import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * Single sign-on: providers, identities, sign-ins in progress, email domains and login branding
 * (docs/single-sign-on.md).
 */
export const migration: SchemaChange = {
  statements: schemaText(`
create table sso_providers (
  id {uuid} primary key,
  org_id {uuid} references organizations (id),
  partner_id {uuid} references partners (id),
  name text not null,
  type text not null check (type in ('oidc', 'saml')),
  preset text,
  issuer text,
  client_id text,
  client_secret_sealed text,
  requested_scopes text not null,
  attribute_mapping {json} not null,
  auto_provision {bool} not null,
  default_role_id {uuid} references roles (id) on delete set null,
  default_role_configured_by {uuid} references users (id) on delete set null,
  allowed_domains text,
  enforce_sso {bool} not null,
  trusts_idp_mfa {bool} not null,
  status text not null check (status in ('inactive', 'testing', 'active')),
  authorization_url text,
  token_url text,
  user_info_url text,
  jwks_url text,
  entity_id text,
  sso_url text,
  certificate text,
  config_version {int} not null,
  created_by {uuid} references users (id) on delete set null,
  created_at {ts} not null,
  updated_at {ts} not null,
  check ((org_id is null) <> (partner_id is null))
) {strict};
create index sso_providers_org on sso_providers (org_id, status, created_at);
create index sso_providers_partner on sso_providers (partner_id, status, created_at);

create table sso_identities (
  id {uuid} primary key,
  user_id {uuid} not null references users (id) on delete cascade,
  provider_id {uuid} not null references sso_providers (id) on delete cascade,
  external_id text not null,
  email text not null,
  profile {json} not null,
  access_token_sealed text,
  refresh_token_sealed text,
  token_expires_at {ts},
  last_login_at {ts} not null,
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (provider_id, external_id),
  unique (provider_id, user_id)
) {strict};
create index sso_identities_user on sso_identities (user_id);

create table sso_login_sessions (
  id {uuid} primary key,
  state_hash text not null unique,
  provider_id {uuid} not null references sso_providers (id) on delete cascade,
  config_version {int} not null,
  nonce text not null,
  code_verifier_sealed text not null,
  redirect_path text not null,
  link_user_id {uuid} references users (id) on delete cascade,
  link_session_id {uuid},
  link_auth_epoch text,
  ip_address text,
  user_agent text,
  created_at {ts} not null,
  expires_at {ts} not null
) {strict};
create index sso_login_sessions_provider on sso_login_sessions (provider_id);
create index sso_login_sessions_expiry on sso_login_sessions (expires_at);

create table sso_exchange_codes (
  code_hash text not null primary key,
  session_id {uuid} not null references sessions (id) on delete cascade,
  created_at {ts} not null,
  expires_at {ts} not null
) {strict};
create index sso_exchange_codes_session on sso_exchange_codes (session_id);
create index sso_exchange_codes_expiry on sso_exchange_codes (expires_at);

create table sso_domains (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  domain text not null,
  verification_token text not null,
  verified_at {ts},
  last_checked_at {ts},
  created_by {uuid} references users (id) on delete set null,
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (org_id, domain)
) {strict};
create index sso_domains_verified on sso_domains (domain) where verified_at is not null;

create table partner_login_branding (
  partner_id {uuid} not null primary key references partners (id),
  logo_url text,
  accent_color text check (length(accent_color) = 7 and substr(accent_color, 1, 1) = '#'
    and ltrim(substr(accent_color, 2), '0123456789abcdefABCDEF') = ''),
  headline text check (length(headline) <= 120),
  updated_by {uuid} references users (id) on delete set null,
  created_at {ts} not null,
  updated_at {ts} not null
) {strict};
`),
};
