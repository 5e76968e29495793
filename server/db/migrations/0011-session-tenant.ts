import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * The tenant in which a session began. An identity provider counts only in its own tenant, for the life of the session
 * (docs/sign-in.md, "Tenant of a session"). No foreign keys: a session outlives the provider that began it.
 */
export const migration: SchemaChange = {
  statements: schemaText(`
alter table sessions add column sso_provider_id {uuid};
alter table sessions add column member_org_id {uuid};
alter table sessions add column member_partner_id {uuid};
`),
};
