import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * Memberships count from their person's acceptance (docs/people.md, "Invitations"). Those of people who have signed in
 * are accepted; who has not accepted the account's invitation yet still has to. An account without a password has never
 * answered a mail, so that its address is not proven (docs/people.md, "Proven addresses").
 */
export const migration: SchemaChange = {
  statements: schemaText(`
alter table partner_users add column accepted_at {ts};
alter table partner_users add column invited_by {uuid};
alter table partner_users add column invited_name text;
alter table partner_users add column invited_email text;
alter table partner_users add column last_active_at {ts};
alter table organization_users add column accepted_at {ts};
alter table organization_users add column invited_by {uuid};
alter table organization_users add column invited_name text;
alter table organization_users add column invited_email text;
alter table organization_users add column last_active_at {ts};
alter table users add column selected_membership_id {uuid};
alter table users add column rescued_until {ts};
alter table sso_domains add column seen_at {ts};
update partner_users set accepted_at = created_at
  where exists (select 1 from users where users.id = partner_users.user_id and users.status <> 'invited');
update organization_users set accepted_at = created_at
  where exists (select 1 from users where users.id = organization_users.user_id and users.status <> 'invited');
update partner_users set invited_name = (select name from users where users.id = partner_users.user_id),
  invited_email = (select email from users where users.id = partner_users.user_id) where accepted_at is null;
update organization_users set invited_name = (select name from users where users.id = organization_users.user_id),
  invited_email = (select email from users where users.id = organization_users.user_id) where accepted_at is null;
update partner_users set last_active_at = (select max(last_used_at) from sessions
  where sessions.user_id = partner_users.user_id and sessions.member_partner_id = partner_users.partner_id);
update organization_users set last_active_at = (select max(last_used_at) from sessions
  where sessions.user_id = organization_users.user_id and sessions.member_org_id = organization_users.org_id);
update users set email_verified_at = null where password_hash is null;
update sso_domains set seen_at = last_checked_at where verified_at is not null;
`),
};
