import type { DialectName } from "../dialect/index.ts";
import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Service principals and the API keys that belong to them (docs/credentials.md, "Service principals"). */
export const migration: SchemaChange = {
  statements: (dialect) => [...table(dialect), ...reference[dialect](dialect), ...indexes(dialect)],
};

const table = schemaText(`
create table service_principals (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  name text not null,
  scopes {json} not null,
  status text not null,
  created_by {uuid} references users (id) on delete set null,
  last_updated_by {uuid} references users (id) on delete set null,
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (org_id, name),
  unique (org_id, id)
) {strict};
create index service_principals_created on service_principals (org_id, created_at, id);
`);

/** A key's principal is of the key's own organization. SQLite takes a new constraint only with a new table. */
const reference: Record<DialectName, (dialect: DialectName) => readonly string[]> = {
  postgres: schemaText(`
alter table api_keys add foreign key (org_id, principal_id) references service_principals (org_id, id);
`),
  sqlite: schemaText(`
create table api_keys_owned (
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
  updated_at {ts} not null,
  foreign key (org_id, principal_id) references service_principals (org_id, id)
) {strict};
insert into api_keys_owned select id, org_id, name, key_prefix, key_hash, scopes, expires_at, rate_limit, status, principal_type, principal_id, created_by, last_used_at, usage_count, created_at, updated_at from api_keys;
drop table api_keys;
alter table api_keys_owned rename to api_keys;
create index api_keys_org on api_keys (org_id, created_at, id);
`),
};

/** Whatever races: never two active keys of one principal. */
const indexes = schemaText(`
create unique index api_keys_one_active on api_keys (principal_id) where principal_id is not null and status = 'active';
`);
