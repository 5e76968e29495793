import type { DialectName } from "../dialect/index.ts";
import type { SchemaChange } from "../schema-change.ts";

/**
 * An index of the trigrams of devices' names, kept by triggers (`dialect/device-names.ts`; docs/search.md, "How devices
 * are found"). It stands beside the devices: these change with every heartbeat, their names do not.
 *
 * Postgres: a policy would have each row judged before the pattern, and so leave the index unused. The table is nobody's
 * to read; the function that reads it adds the tenant that the server signed for.
 */
export const migration: SchemaChange = {
  statements: (dialect) => statements[dialect],
};

const searched = ["org_id", "hostname", "display_name", "last_user"];
const changed = (differs: string) => searched.map((name) => `old.${name} ${differs} new.${name}`).join(" or ");

const values = (device: string) =>
  `tenant_mark(${device}.org_id), tenant_mark(o.partner_id), fold(${device}.hostname), fold(${device}.display_name), fold(${device}.last_user)`;
const columns = "org, partner, hostname, display_name, last_user";
const number = (device: string) => `(select number from search_devices where device_id = ${device}.id)`;
const added = (from: string, device: string) =>
  `insert into search_device_names (rowid, device_id, ${columns})
    select ${number(device)}, ${device}.id, ${values(device)} from ${from}`;

const sqlite = [
  // The numbers of rows without one of their own may change when the file is rewritten.
  "create table search_devices (number integer primary key, device_id text not null unique) strict",
  `create virtual table search_device_names using fts5(device_id unindexed, ${columns}, tokenize = 'trigram case_sensitive 1')`,
  "insert into search_devices (device_id) select id from devices",
  added("devices d join organizations o on o.id = d.org_id", "d"),
  `create trigger search_device_made after insert on devices begin
  insert into search_devices (device_id) values (new.id);
  ${added("organizations o where o.id = new.org_id", "new")};
end`,
  `create trigger search_device_changed after update of ${searched.join(", ")} on devices when ${changed("is not")} begin
  update search_device_names set (${columns}) =
    (select ${values("new")} from organizations o where o.id = new.org_id) where rowid = ${number("new")};
end`,
  `create trigger search_device_gone after delete on devices begin
  delete from search_device_names where rowid = ${number("old")};
  delete from search_devices where device_id = old.id;
end`,
];

const definer = "language plpgsql security definer set search_path = pg_catalog, pg_temp";

const kept = (device: string) =>
  `${device}.id, ${device}.hostname_key, ${device}.display_key, public.fold(${device}.last_user),
    rmm_private.device_words(${device}.org_id, ${device}.partner_id,
      array[${device}.hostname_key, ${device}.display_key, public.fold(${device}.last_user)])`;

const postgres = [
  `create table rmm_private.device_names (
  device_id uuid primary key references public.devices (id) on delete cascade,
  hostname text collate "C",
  display_name text collate "C",
  last_user text collate "C",
  words text[] not null
)`,
  `create function rmm_private.device_words(org uuid, partner uuid, names text[]) returns text[]
language sql stable parallel safe set search_path = pg_catalog, pg_temp as $$
  select array['org ' || org, 'partner ' || partner] || array(
    select distinct substr(name, at, 3) from unnest(names) as one(name), generate_series(1, length(name) - 2) as at)
$$`,
  `insert into rmm_private.device_names (device_id, hostname, display_name, last_user, words)
    select ${kept("d")} from public.devices d`,
  // Without a list of pending entries, which every search would have to read.
  "create index device_names_words on rmm_private.device_names using gin (words) with (fastupdate = off)",
  `create function rmm_private.keep_device_names() returns trigger ${definer} as $$
begin
  insert into rmm_private.device_names (device_id, hostname, display_name, last_user, words) values (${kept("new")})
    on conflict (device_id) do update set hostname = excluded.hostname, display_name = excluded.display_name,
      last_user = excluded.last_user, words = excluded.words;
  return null;
end $$`,
  `create trigger device_names_made after insert on public.devices
  for each row execute function rmm_private.keep_device_names()`,
  `create trigger device_names_changed after update of ${searched.join(", ")} on public.devices for each row
  when (${changed("is distinct from")}) execute function rmm_private.keep_device_names()`,
  "alter table public.devices enable always trigger device_names_made, enable always trigger device_names_changed",
  `create function public.rmm_devices_named(fields int, pattern text, wanted text, most int) returns uuid[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare wall text[] := array(select jsonb_array_elements_text(wanted::jsonb));
begin
  if current_setting('role') <> 'rmm_system' and not public.rmm_is_system() then
    wall := wall || coalesce('org ' || public.rmm_org(), 'partner ' || public.rmm_partner());
    if array_position(wall, null) is not null then return '{}'; end if;
  end if;
  return array(select n.device_id from rmm_private.device_names n where n.words @> wall
    and (fields & 1 <> 0 and n.hostname like pattern escape '!' or fields & 2 <> 0 and n.display_name like pattern escape '!'
      or fields & 4 <> 0 and n.last_user like pattern escape '!') limit most);
end $$`,
  "revoke all on function public.rmm_devices_named(int, text, text, int) from public",
  "grant execute on function public.rmm_devices_named(int, text, text, int) to rmm_app",
  "revoke all on function rmm_private.keep_device_names(), rmm_private.device_words(uuid, uuid, text[]) from public",
];

const statements: Record<DialectName, readonly string[]> = { sqlite, postgres };
