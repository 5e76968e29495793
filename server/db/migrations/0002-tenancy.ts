import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Partner > organization > site, and contacts (docs/tenancy.md). */
export const migration: SchemaChange = {
  statements: schemaText(`
create table partners (
  id {uuid} primary key,
  name text not null,
  slug text not null,
  type text not null,
  plan text not null,
  status text not null,
  max_organizations {int},
  max_devices {int},
  settings {json} not null,
  sso_config {json} not null,
  billing_email text,
  service_management_mode text not null,
  service_management_psa_connection_id {uuid},
  created_at {ts} not null,
  updated_at {ts} not null,
  deleted_at {ts},
  check ((service_management_mode = 'external') = (service_management_psa_connection_id is not null))
) {strict};
create unique index partners_slug on partners (slug) where deleted_at is null;

create table organizations (
  id {uuid} primary key,
  partner_id {uuid} not null references partners (id),
  name text not null,
  slug text not null,
  type text not null,
  status text not null,
  max_devices {int},
  settings {json} not null,
  sso_config {json} not null,
  contract_start {ts},
  contract_end {ts},
  billing_contact {json},
  offboarding_started_at {ts},
  offboarding_target text,
  archived_at {ts},
  retention_mode text,
  purge_at {ts},
  merged_into_org_id {uuid},
  created_at {ts} not null,
  updated_at {ts} not null,
  deleted_at {ts},
  unique (partner_id, id)
) {strict};
create unique index organizations_slug on organizations (partner_id, slug) where deleted_at is null;
create index organizations_created on organizations (partner_id, created_at, id);

create table sites (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  name text not null,
  timezone text not null,
  address {json},
  contact {json},
  settings {json} not null,
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (org_id, id)
) {strict};
create index sites_created on sites (org_id, created_at, id);

create table contacts (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  site_id {uuid},
  name text,
  email text,
  phone text,
  mobile text,
  title text,
  roles {json} not null,
  is_primary {bool} not null,
  notes text,
  created_at {ts} not null,
  updated_at {ts} not null,
  foreign key (org_id, site_id) references sites (org_id, id) on delete cascade,
  check (coalesce(name, email, phone, mobile) is not null)
) {strict};
create index contacts_org on contacts (org_id, site_id, id);
create unique index contacts_primary_org on contacts (org_id) where is_primary and site_id is null;
create unique index contacts_primary_site on contacts (org_id, site_id) where is_primary and site_id is not null;

create table audit_retention (
  org_id {uuid} primary key references organizations (id),
  retention_days {int} not null,
  last_cleanup_at {ts},
  created_at {ts} not null,
  updated_at {ts} not null
) {strict};
`),
};
