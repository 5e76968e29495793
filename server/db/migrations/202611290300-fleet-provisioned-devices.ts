import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Devices that are awaited, each with a key of its own (docs/fleet.md, "Provisioning"). */
export const migration: SchemaChange = {
  statements: schemaText(`
alter table devices add column provision_key_hash text;
alter table devices add column provision_key_expires_at {ts};
create unique index devices_provision_key on devices (provision_key_hash);
create index devices_awaited on devices (provision_key_expires_at) where status = 'pending';
`),
};
