import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Tokens that agents have replaced (docs/fleet.md, "Replaced tokens"); they follow their device. */
export const migration: SchemaChange = {
  statements: schemaText(`
create table replaced_agent_tokens (
  token_hash text primary key,
  org_id {uuid} not null,
  device_id {uuid} not null,
  replaced_at {ts} not null,
  foreign key (org_id, device_id) references devices (org_id, id) on update cascade on delete cascade
) {strict};
create index replaced_agent_tokens_device on replaced_agent_tokens (org_id, device_id);
create index replaced_agent_tokens_age on replaced_agent_tokens (replaced_at);
`),
};
