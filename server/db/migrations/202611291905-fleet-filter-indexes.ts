import type { DialectName } from "../dialect/index.ts";
import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * What filters find devices by (docs/filters.md, "How devices are found"): tags as rows, and every title of software once.
 * Triggers keep both, so no writer of devices and of their software can forget them. Titles are of all tenants, so nobody
 * reads them but the function that a condition on software calls.
 */
export const migration: SchemaChange = {
  statements: (dialect) => [...tables(dialect), ...titles[dialect], ...backfill[dialect], ...keepers[dialect]],
};

const tables = schemaText(`
create table device_tags (
  org_id {uuid} not null,
  device_id {uuid} not null,
  tag text not null,
  primary key (tag, org_id, device_id),
  foreign key (org_id, device_id) references devices (org_id, id) on update cascade on delete cascade
) {strict};
create index device_tags_device on device_tags (org_id, device_id);
create index device_software_name on device_software (name, org_id, device_id);
`);

const titles: Record<DialectName, string[]> = {
  sqlite: ["create table software_titles (title text primary key) strict, without rowid"],
  postgres: [
    "create table rmm_private.software_titles (title text primary key)",
    `create function public.rmm_titles_with(pattern text, spelled text) returns text[]
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select array(select title from rmm_private.software_titles
    where case when octet_length(title) = char_length(title) then lower(title collate "C") like pattern escape '!'
      else title collate "C" ~ spelled end)
$$`,
    "revoke all on function public.rmm_titles_with(text, text) from public",
    "grant execute on function public.rmm_titles_with(text, text) to rmm_app, rmm_system",
  ],
};

const backfill: Record<DialectName, string[]> = {
  sqlite: [
    `insert or ignore into device_tags (org_id, device_id, tag)
select d.org_id, d.id, t.value from devices d, json_each(d.tags) t where d.tags <> '[]'`,
    "insert or ignore into software_titles (title) select name from device_software",
  ],
  postgres: [
    `insert into device_tags (org_id, device_id, tag)
select d.org_id, d.id, t.value from devices d, jsonb_array_elements_text(d.tags) t(value) where d.tags <> '[]'
on conflict do nothing`,
    "insert into rmm_private.software_titles (title) select distinct name from device_software",
  ],
};

const taggedSqlite = `insert or ignore into device_tags (org_id, device_id, tag)
  select new.org_id, new.id, t.value from json_each(new.tags) t;`;

const definer = "language plpgsql security definer set search_path = pg_catalog, pg_temp";

const keepers: Record<DialectName, string[]> = {
  sqlite: [
    `create trigger device_tags_came after insert on devices when new.tags <> '[]' begin ${taggedSqlite} end`,
    `create trigger device_tags_changed after update of tags on devices when old.tags <> new.tags begin
  delete from device_tags where org_id = new.org_id and device_id = new.id;
  ${taggedSqlite}
end`,
    `create trigger software_title_came after insert on device_software begin
  insert or ignore into software_titles (title) values (new.name);
end`,
    `create trigger software_title_changed after update of name on device_software when old.name <> new.name begin
  insert or ignore into software_titles (title) values (new.name);
end`,
  ],
  postgres: [
    `create function rmm_private.keep_device_tags() returns trigger ${definer} as $$
begin
  if tg_op = 'UPDATE' then delete from public.device_tags where org_id = new.org_id and device_id = new.id; end if;
  insert into public.device_tags (org_id, device_id, tag)
    select new.org_id, new.id, t.value from jsonb_array_elements_text(new.tags) t(value) on conflict do nothing;
  return null;
end $$`,
    `create trigger device_tags_came after insert on public.devices for each row when (new.tags <> '[]')
  execute function rmm_private.keep_device_tags()`,
    `create trigger device_tags_changed after update of tags on public.devices for each row
  when (old.tags is distinct from new.tags) execute function rmm_private.keep_device_tags()`,
    // Sorted, so that two reports never wait for each other's titles.
    `create function rmm_private.keep_software_titles() returns trigger ${definer} as $$
begin
  insert into rmm_private.software_titles (title)
    select distinct c.name from changed c
    where not exists (select 1 from rmm_private.software_titles t where t.title = c.name)
    order by c.name on conflict do nothing;
  return null;
end $$`,
    `create trigger software_titles_came after insert on public.device_software referencing new table as changed
  for each statement execute function rmm_private.keep_software_titles()`,
    `create trigger software_titles_changed after update on public.device_software referencing new table as changed
  for each statement execute function rmm_private.keep_software_titles()`,
    "alter table public.devices enable always trigger device_tags_came, enable always trigger device_tags_changed",
    `alter table public.device_software enable always trigger software_titles_came,
  enable always trigger software_titles_changed`,
    "revoke all on function rmm_private.keep_device_tags(), rmm_private.keep_software_titles() from public",
  ],
};
