import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Partner service principals, their organizations and keys (docs/credentials.md, "Partner service principals"). */
export const migration: SchemaChange = {
  statements: schemaText(`
create table partner_service_principals (
  id {uuid} primary key,
  partner_id {uuid} not null references partners (id),
  name text not null,
  description text,
  status text not null,
  scopes {json} not null,
  org_access text not null,
  expires_at {ts},
  source_cidrs {json} not null,
  created_by {uuid} references users (id) on delete set null,
  updated_by {uuid} references users (id) on delete set null,
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (partner_id, name),
  unique (partner_id, id)
) {strict};

create table partner_service_principal_orgs (
  partner_id {uuid} not null,
  principal_id {uuid} not null,
  org_id {uuid} not null,
  primary key (partner_id, principal_id, org_id),
  foreign key (partner_id, principal_id) references partner_service_principals (partner_id, id) on delete cascade,
  foreign key (partner_id, org_id) references organizations (partner_id, id)
) {strict};
create index partner_service_principal_orgs_principal on partner_service_principal_orgs (principal_id, org_id);

create table partner_service_principal_keys (
  id {uuid} primary key,
  partner_id {uuid} not null,
  principal_id {uuid} not null,
  name text not null,
  key_prefix text not null,
  key_hash text not null unique,
  status text not null,
  expires_at {ts},
  rate_limit {int} not null,
  last_used_at {ts},
  revoked_at {ts},
  rotated_from_id {uuid},
  created_by {uuid} references users (id) on delete set null,
  created_at {ts} not null,
  updated_at {ts} not null,
  foreign key (partner_id, principal_id) references partner_service_principals (partner_id, id) on delete cascade
) {strict};
create index partner_service_principal_keys_principal on partner_service_principal_keys (partner_id, principal_id, created_at);
`),
};
