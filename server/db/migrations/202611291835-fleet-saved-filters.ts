import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Filters that are kept under a name (docs/filters.md, "Saved filters"). */
export const migration: SchemaChange = {
  statements: schemaText(`
create table saved_filters (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  name text not null,
  description text,
  conditions {json} not null,
  custom_keys {json} not null,
  created_by {uuid},
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (org_id, id)
) {strict};
create index saved_filters_created on saved_filters (org_id, created_at, id);
`),
};
