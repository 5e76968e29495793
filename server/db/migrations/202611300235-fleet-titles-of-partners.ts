import type { SchemaChange } from "../schema-change.ts";

/**
 * Postgres: the function that conditions on software call gives a tenant's connection titles of its own devices alone.
 * Those of each partner stand in a table beside the list of all, so that what others have takes no time either; an
 * organization's are looked up among its partner's. SQLite knows no connections of tenants.
 *
 * Custom values are read by functions that become part of the statement: those that say `strict` never do if they choose.
 */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? [...titles, ...values] : []),
};

const definer = "language plpgsql security definer set search_path = pg_catalog, pg_temp";
const matched = `case when octet_length(t.title) = char_length(t.title) then lower(t.title collate "C") like pattern escape '!'
      else t.title collate "C" ~ spelled end`;
const hasDevice = `exists (select 1 from public.device_software s join public.organizations o on o.id = s.org_id
        where s.name = t.title and o.partner_id = t.partner_id)`;

const titles = [
  "create table rmm_private.partner_titles (partner_id uuid not null, title text not null, primary key (partner_id, title))",
  `insert into rmm_private.partner_titles (partner_id, title)
    select distinct o.partner_id, s.name from public.device_software s join public.organizations o on o.id = s.org_id`,
  // Sorted, so that two reports never wait for each other's titles.
  `create or replace function rmm_private.keep_software_titles() returns trigger ${definer} as $$
begin
  insert into rmm_private.software_titles (title)
    select distinct c.name from changed c
    where not exists (select 1 from rmm_private.software_titles t where t.title = c.name)
    order by c.name on conflict do nothing;
  insert into rmm_private.partner_titles (partner_id, title)
    select distinct o.partner_id, c.name from changed c join public.organizations o on o.id = c.org_id
    where not exists (select 1 from rmm_private.partner_titles t where t.partner_id = o.partner_id and t.title = c.name)
    order by o.partner_id, c.name on conflict do nothing;
  return null;
end $$`,
  `create or replace function public.rmm_titles_with(pattern text, spelled text) returns text[] stable ${definer} as $$
declare
  org uuid;
  partner uuid;
begin
  if current_setting('role') = 'rmm_system' or public.rmm_is_system() then
    return array(select t.title from rmm_private.software_titles t where ${matched});
  end if;
  org := public.rmm_org();
  partner := case when org is null then public.rmm_partner() else public.rmm_partner_of_org() end;
  return array(select t.title from rmm_private.partner_titles t where t.partner_id = partner and ${matched}
    and (org is null or exists (select 1 from public.device_software s where s.name = t.title and s.org_id = org)));
end $$`,
  `create or replace function public.rmm_forget_titles(after text, most int) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
declare
  looked text[] := array(select title from rmm_private.software_titles where title > after order by title limit most);
begin
  if exists (select 1 from unnest(looked) as one(title)
      where not exists (select 1 from public.device_software s where s.name = one.title))
    or exists (select 1 from rmm_private.partner_titles t where t.title = any(looked) and not ${hasDevice}) then
    lock table public.device_software in share row exclusive mode;
    delete from rmm_private.software_titles t where t.title = any(looked)
      and not exists (select 1 from public.device_software s where s.name = t.title);
    delete from rmm_private.partner_titles t where t.title = any(looked) and not ${hasDevice};
  end if;
  return looked[cardinality(looked)];
end $$`,
];

const inline = "language sql immutable parallel safe";

const values = [
  `create or replace function public.rmm_custom_text(value jsonb) returns text ${inline} as $$
  select case jsonb_typeof(value) when 'string' then value #>> '{}' end $$`,
  `create or replace function public.rmm_custom_number(value jsonb) returns float8 ${inline} as $$
  select case jsonb_typeof(value) when 'number' then value::float8 when 'string' then public.rmm_number_of(value #>> '{}') end $$`,
  `create or replace function public.rmm_custom_boolean(value jsonb) returns boolean ${inline} as $$
  select case jsonb_typeof(value) when 'boolean' then value::boolean when 'string' then
    case value #>> '{}' when 'true' then true when 'yes' then true when 'false' then false when 'no' then false end end $$`,
  `create or replace function public.rmm_custom_instant(value jsonb) returns timestamptz ${inline} as $$
  select case jsonb_typeof(value) when 'string' then public.rmm_instant_of(value #>> '{}') end $$`,
];
