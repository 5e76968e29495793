import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Fields that devices have beside their own (docs/fleet.md, "Custom fields"). */
export const migration: SchemaChange = {
  statements: schemaText(`
create table custom_fields (
  id {uuid} primary key,
  org_id {uuid} references organizations (id),
  partner_id {uuid} references partners (id),
  name text not null,
  field_key text not null,
  type text not null check (type in ('text', 'number', 'boolean', 'dropdown', 'date')),
  options {json},
  required {bool} not null,
  default_json text,
  device_types {json},
  created_at {ts} not null,
  updated_at {ts} not null,
  check ((org_id is null) <> (partner_id is null))
) {strict};
create unique index custom_fields_org on custom_fields (org_id, field_key);
create unique index custom_fields_partner on custom_fields (partner_id, field_key);
`),
};
