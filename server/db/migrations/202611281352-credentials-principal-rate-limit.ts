import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * The hourly budget of a partner principal, which uses of all its keys share (docs/credentials.md, "Partner keys").
 * Principals that exist keep what the most generous of their keys allows; keys that allow less keep their own limit, the
 * others follow their principal's.
 */
export const migration: SchemaChange = {
  statements: schemaText(`
alter table partner_service_principals add column rate_limit {int} not null default 600;
update partner_service_principals set rate_limit = coalesce((
  select max(k.rate_limit) from partner_service_principal_keys k
  where k.principal_id = partner_service_principals.id and k.status = 'active'), 600);
alter table partner_service_principal_keys add column own_rate_limit {int};
update partner_service_principal_keys set own_rate_limit = rate_limit where rate_limit < (
  select p.rate_limit from partner_service_principals p where p.id = partner_service_principal_keys.principal_id);
alter table partner_service_principal_keys drop column rate_limit;
alter table partner_service_principal_keys rename column own_rate_limit to rate_limit;
`),
};
