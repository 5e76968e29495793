import { customFieldFields, differs, GONE } from "./export-triggers.ts";
import { declared, defined, triggersOf } from "./export-triggers-postgres.ts";

/** The triggers of `202611290410-credentials-exported-custom-fields` on Postgres. */
const valuesLeft = (which: string) => `
    insert into public.export_removals (kind, row_id, partner_id, org_id, site_id, first_at, removed_at)
      select r.kind, r.id, r.partner_id, r.org_id, r.site_id, r.first_at, at from public.export_rows r
      where r.kind = 'custom_field_value' and ${which};
    delete from public.export_rows r where r.kind = 'custom_field_value' and ${which};`;

const field = `${declared} begin
  if tg_op = 'DELETE' then
    perform public.export_leave('custom_field', old.id, at);${valuesLeft("r.field_id = old.id")}
  elsif tg_op = 'INSERT' then
    insert into public.export_rows (kind, id, partner_id, org_id, first_at, changed_at)
      values ('custom_field', new.id,
        coalesce(new.partner_id, (select o.partner_id from public.organizations o where o.id = new.org_id)),
        new.org_id, at, at);
  else
    update public.export_rows set changed_at = at where kind = 'custom_field' and id = new.id;
  end if;
  return null;
end`;

/** `had` are the fields of the device's organization and its partner that it has a value of. */
const values = `declare at timestamptz := clock_timestamp()::timestamptz(3); partner uuid; had uuid[]; begin
  if tg_op = 'DELETE' then${valuesLeft("r.device_id = old.id")}
    return null;
  end if;
  select o.partner_id into partner from public.organizations o where o.id = new.org_id;
  select coalesce(array_agg(f.id), '{}') into had from public.custom_fields f
    where (f.org_id = new.org_id or f.partner_id = partner)
      and new.status <> '${GONE}' and new.custom_fields ? f.field_key;
  if tg_op = 'UPDATE' then${valuesLeft("r.device_id = new.id and (r.org_id <> new.org_id or r.field_id <> all (had))")}
    update public.export_rows r set changed_at = at, site_id = new.site_id
      where r.kind = 'custom_field_value' and r.device_id = new.id and (
        r.site_id is distinct from new.site_id
        or exists (select from public.custom_fields f where f.id = r.field_id
          and old.custom_fields -> f.field_key is distinct from new.custom_fields -> f.field_key));
  end if;
  insert into public.export_rows (kind, id, partner_id, org_id, site_id, device_id, field_id, first_at, changed_at)
    select 'custom_field_value', gen_random_uuid(), partner, new.org_id, new.site_id, new.id, f, at, at
    from unnest(had) f
    where not exists (select from public.export_rows r where r.device_id = new.id and r.field_id = f);
  return null;
end`;

export const exportedValuesPostgres: readonly string[] = [
  ...defined(["export_custom_field", ") returns trigger", field]),
  ...defined(["export_values", ") returns trigger", values]),
  ...triggersOf("custom_fields", "export_custom_field()", customFieldFields),
  `create trigger export_values_made after insert on public.devices for each row
    when (new.custom_fields <> '{}') execute function public.export_values()`,
  `create trigger export_values_gone after delete on public.devices for each row execute function public.export_values()`,
  `create trigger export_values_changed after update of custom_fields, org_id, site_id, status on public.devices for each row
    when (${differs(["custom_fields", "org_id", "site_id"])}
      or (old.status = '${GONE}') <> (new.status = '${GONE}')) execute function public.export_values()`,
];
