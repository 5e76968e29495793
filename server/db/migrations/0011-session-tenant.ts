import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * Where a session was begun. What an identity provider vouches for counts in its own tenant alone, for as long as the
 * session lasts (contract 4 §6.3). No foreign keys: a session outlives the provider that began it.
 */
export const migration: SchemaChange = {
  statements: schemaText(`
alter table sessions add column sso_provider_id {uuid};
alter table sessions add column member_org_id {uuid};
alter table sessions add column member_partner_id {uuid};
`),
};
