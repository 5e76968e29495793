import type { DialectName } from "../dialect/index.ts";
import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * What filters ask of devices (docs/filters.md, "Special fields"): the newest sample of each, kept by triggers, and which
 * have reported their patches. Postgres reads custom values with functions of its own; SQLite has them registered.
 */
export const migration: SchemaChange = {
  statements: (dialect) => [...tables(dialect), ...keepers[dialect], backfill, ...functions[dialect]],
};

const tables = schemaText(`
create table device_patch_reports (
  org_id {uuid} not null,
  device_id {uuid} not null,
  first_reported_at {ts} not null,
  primary key (org_id, device_id),
  foreign key (org_id, device_id) references devices (org_id, id) on update cascade on delete cascade
) {strict};
insert into device_patch_reports (org_id, device_id, first_reported_at)
  select org_id, device_id, min(first_seen_at) from device_patches group by org_id, device_id;

create table device_newest_metrics (
  org_id {uuid} not null,
  device_id {uuid} not null,
  timestamp {ts} not null,
  cpu_percent {float} not null,
  ram_percent {float} not null,
  disk_percent {float} not null,
  primary key (org_id, device_id)
) {strict};
`);

const columns = "org_id, device_id, timestamp, cpu_percent, ram_percent, disk_percent";

const backfill = `insert into device_newest_metrics (${columns})
select ${columns} from device_metrics m
where timestamp = (select max(timestamp) from device_metrics n where n.org_id = m.org_id and n.device_id = m.device_id)`;

const takeOver = `on conflict (org_id, device_id) do update set
  timestamp = excluded.timestamp, cpu_percent = excluded.cpu_percent,
  ram_percent = excluded.ram_percent, disk_percent = excluded.disk_percent`;

const keepers: Record<DialectName, string[]> = {
  sqlite: [
    `create trigger newest_sample_came after insert on device_metrics begin
  insert into device_newest_metrics (${columns})
  values (new.org_id, new.device_id, new.timestamp, new.cpu_percent, new.ram_percent, new.disk_percent)
  ${takeOver} where excluded.timestamp > device_newest_metrics.timestamp;
end`,
    `create trigger newest_sample_went after delete on device_metrics
when exists (select 1 from device_newest_metrics n
  where n.org_id = old.org_id and n.device_id = old.device_id and n.timestamp = old.timestamp) begin
  delete from device_newest_metrics where org_id = old.org_id and device_id = old.device_id;
  insert into device_newest_metrics (${columns})
  select ${columns} from device_metrics where org_id = old.org_id and device_id = old.device_id
  order by timestamp desc limit 1;
end`,
  ],
  postgres: [
    `create function public.rmm_newest_sample_came() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into public.device_newest_metrics as newest (${columns})
  select distinct on (org_id, device_id) ${columns} from changed order by org_id, device_id, timestamp desc
  ${takeOver} where excluded.timestamp > newest.timestamp;
  return null;
end $$`,
    `create function public.rmm_newest_sample_went() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from public.device_newest_metrics n using changed c
  where n.org_id = c.org_id and n.device_id = c.device_id and n.timestamp = c.timestamp;
  insert into public.device_newest_metrics (${columns})
  select distinct on (m.org_id, m.device_id) m.org_id, m.device_id, m.timestamp, m.cpu_percent, m.ram_percent, m.disk_percent
  from public.device_metrics m
  where (m.org_id, m.device_id) in (select c.org_id, c.device_id from changed c)
    and not exists (select 1 from public.device_newest_metrics n where n.org_id = m.org_id and n.device_id = m.device_id)
  order by m.org_id, m.device_id, m.timestamp desc
  on conflict do nothing;
  return null;
end $$`,
    `create trigger newest_sample_came after insert on public.device_metrics referencing new table as changed
  for each statement execute function public.rmm_newest_sample_came()`,
    `create trigger newest_sample_went after delete on public.device_metrics referencing old table as changed
  for each statement execute function public.rmm_newest_sample_went()`,
    "alter table public.device_metrics enable always trigger newest_sample_came",
    "alter table public.device_metrics enable always trigger newest_sample_went",
  ],
};

const pure = "immutable strict parallel safe set search_path = pg_catalog, pg_temp";
/** Written so that it becomes part of the statement that calls it. */
const inline = "language sql immutable strict parallel safe";

const functions: Record<DialectName, string[]> = {
  sqlite: [],
  postgres: [
    `create function public.rmm_number_of(value text) returns float8 language plpgsql ${pure} as $$
declare trimmed text := btrim(value, E' \\t\\n\\r\\f\\v');
begin
  if trimmed !~* '^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)(e[+-]?[0-9]+)?$' then return null; end if;
  return trimmed::float8;
exception when others then return null;
end $$`,
    `create function public.rmm_instant_of(value text) returns timestamptz language plpgsql ${pure} as $$
declare read timestamptz;
begin
  if value !~* '^[0-9]{4}-[0-9]{2}-[0-9]{2}(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+-](0[0-9]|1[0-5]):?[0-5][0-9])?)?$'
    then return null; end if;
  read := case when length(value) = 10 then value || 'T00:00:00Z'
    when value ~* '(Z|[+-][0-9]{2}:?[0-9]{2})$' and length(value) > 16 then value else value || 'Z' end;
  read := date_trunc('milliseconds', read);
  return case when read >= '0001-01-01T00:00:00Z' and read < '10000-01-01T00:00:00Z' then read end;
exception when others then return null;
end $$`,
    `create function public.rmm_custom_text(value jsonb) returns text ${inline} as $$
  select case jsonb_typeof(value) when 'string' then value #>> '{}' end $$`,
    `create function public.rmm_custom_number(value jsonb) returns float8 ${inline} as $$
  select case jsonb_typeof(value) when 'number' then value::float8 when 'string' then public.rmm_number_of(value #>> '{}') end $$`,
    `create function public.rmm_custom_boolean(value jsonb) returns boolean ${inline} as $$
  select case jsonb_typeof(value) when 'boolean' then value::boolean when 'string' then
    case value #>> '{}' when 'true' then true when 'yes' then true when 'false' then false when 'no' then false end end $$`,
    `create function public.rmm_custom_instant(value jsonb) returns timestamptz ${inline} as $$
  select case jsonb_typeof(value) when 'string' then public.rmm_instant_of(value #>> '{}') end $$`,
  ],
};
