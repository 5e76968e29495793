import type { SchemaChange } from "../schema-change.ts";

/**
 * Postgres: a tenant's connection accepts no membership for anybody and hands none to another person, because whoever
 * is a member is visible to the tenant. The server does it with its scope lifted, or as the system.
 */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? postgres : []),
};

const postgres = [
  `create function public.rmm_membership_is_personal() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  accepted timestamptz := null;
begin
  if tg_op = 'UPDATE' then accepted := old.accepted_at; end if;
  if (new.accepted_at is null or new.accepted_at = accepted) and (tg_op = 'INSERT' or new.user_id = old.user_id) then
    return new;
  end if;
  if pg_has_role(current_user, 'rmm_system', 'USAGE') or public.rmm_is_system() then return new; end if;
  raise exception 'a membership is accepted by its person alone' using errcode = '42501';
end $$`,
  ...["partner_users", "organization_users"].flatMap((table) => [
    `create trigger ${table}_personal before insert or update on public.${table}
  for each row execute function public.rmm_membership_is_personal()`,
    `alter table public.${table} enable always trigger ${table}_personal`,
  ]),
];
