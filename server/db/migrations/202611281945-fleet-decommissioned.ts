import { type SchemaChange, schemaText } from "../schema-change.ts";

/** When a device left, so that its tokens end a while later (docs/fleet.md, "Decommissioning"). */
export const migration: SchemaChange = {
  statements: schemaText(`
alter table devices add column decommissioned_at {ts};
create index devices_decommissioned on devices (decommissioned_at) where agent_token_hash is not null;
create index organizations_offboarding on organizations (id) where status = 'offboarding';
`),
};
