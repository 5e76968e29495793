/** Postgres: serves tenants. It owns nothing, cannot bypass a policy, and sees what a scope signed by the server shows. */
export const APP_ROLE = "rmm_app";
/** Postgres: the installation's own work (callers, jobs, audit writer). Sees every row; the audit record's walls hold for it too. */
export const SYSTEM_ROLE = "rmm_system";
/** Postgres: reads the audit record and asks for the removal of old entries, and nothing else. */
export const RETENTION_ROLE = "rmm_retention";

/**
 * Makes the roles where they are missing. They belong to the cluster and not to a database, so no migration makes
 * them: several databases may share them, and a restored database needs them before anything else. A role that may
 * create none can run this once somebody has made them.
 */
export const makeRoles = `do $$
declare
  name text;
  member text := case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end;
begin
  foreach name in array array['${APP_ROLE}', '${SYSTEM_ROLE}', '${RETENTION_ROLE}'] loop
    if not exists (select from pg_roles where rolname = name) then
      begin
        execute format('create role %I nologin nosuperuser nocreatedb nocreaterole nobypassrls', name);
      exception when duplicate_object or unique_violation then null; -- another database's migration made it just now
      end;
    end if;
    -- Whoever migrates may also serve, by switching to these roles; a superuser may switch without being a member.
    if not pg_has_role(current_user, name, member) then execute format('grant %I to %I', name, current_user); end if;
  end loop;
  if not pg_has_role('${SYSTEM_ROLE}', '${APP_ROLE}', 'USAGE') then
    begin
      execute 'grant ${APP_ROLE} to ${SYSTEM_ROLE}';
    exception when others then
      if not pg_has_role('${SYSTEM_ROLE}', '${APP_ROLE}', 'USAGE') then raise; end if;
    end;
  end if;
end $$`;
