import type { SchemaChange } from "../schema-change.ts";

/** What Postgres needs before the first table: the application's role, its walls, and Unicode case folding. */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? postgres : []),
};

const wall = "pg_catalog.current_setting('rmm.scope', true)";

const postgres = [
  // Roles belong to the cluster, so another database's migration may make it at the same moment.
  `do $$ begin
     create role rmm_app nologin nosuperuser nocreatedb nocreaterole nobypassrls;
   exception when duplicate_object or unique_violation then null; end $$`,
  // Where the URL's role is no superuser, it must be a member to switch to the application's role.
  `do $$ begin
     if not pg_has_role(current_user, 'rmm_app', 'member') then execute format('grant rmm_app to %I', current_user); end if;
   end $$`,
  `do $$ begin execute format('revoke temp on database %I from public', current_database()); end $$`,
  "revoke create on schema public from public",
  "grant usage on schema public to rmm_app",
  // The migrator made its table before any of this; the readiness probe reads it.
  "grant select on kysely_migration to rmm_app",
  "alter default privileges in schema public grant select, insert, update, delete on tables to rmm_app",
  "alter default privileges in schema public grant usage, select on sequences to rmm_app",
  // Qualified rather than with a search path of their own, so that the planner writes them into the query (measured: half the cost).
  `create function rmm_is_system() returns boolean language sql stable parallel safe as
     $$ select coalesce(${wall} operator(pg_catalog.=) 'system', false) $$`,
  `create function rmm_partner() returns uuid language sql stable parallel safe as
     $$ select case when ${wall} operator(pg_catalog.~~) 'partner:%' then pg_catalog.substr(${wall}, 9)::pg_catalog.uuid end $$`,
  `create function rmm_org() returns uuid language sql stable parallel safe as
     $$ select case when ${wall} operator(pg_catalog.~~) 'org:%' then pg_catalog.substr(${wall}, 5)::pg_catalog.uuid end $$`,
  // A cluster made with the C locale lower-cases ASCII only; ICU's root collation knows every script.
  `do $$ begin
     if exists (select 1 from pg_collation where collname = 'und-x-icu') then
       execute 'create function fold(value text) returns text language sql immutable strict parallel safe as ''select lower(value collate "und-x-icu")''';
     else
       execute 'create function fold(value text) returns text language sql immutable strict parallel safe as ''select lower(value)''';
     end if;
   end $$`,
];
