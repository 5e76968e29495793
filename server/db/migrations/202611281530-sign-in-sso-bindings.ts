import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * What a provider announces and its own callback address; what an exchange must prove
 * (docs/single-sign-on.md). Providers that exist have been sent their secret in the body so far, and go on as they are
 * until their document is read again.
 */
export const migration: SchemaChange = {
  statements: schemaText(`
alter table sso_providers add column announced {json};
alter table sso_providers add column own_callback {bool} not null default '0';
alter table sso_login_sessions add column exchange_challenge text;
alter table sso_exchange_codes add column challenge text;
create index sessions_sso_provider on sessions (sso_provider_id) where sso_provider_id is not null;
update sso_providers set announced = '{"tokenAuthMethods":["client_secret_post"]}' where token_url is not null;
`),
};
