import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Chains whose last verification failed, one row each while that is so. */
export const migration: SchemaChange = {
  statements: schemaText(`
create table audit_incidents (
  chain_kind text not null,
  chain_id {uuid} not null,
  opened_at {ts} not null,
  notified_at {ts} not null,
  primary key (chain_kind, chain_id)
) {strict};
`),
};
