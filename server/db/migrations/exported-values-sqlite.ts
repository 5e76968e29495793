import { customFieldFields, differs, GONE } from "./export-triggers.ts";
import { left, now, touched, trigger } from "./export-triggers-sqlite.ts";

/** The triggers of `202611290410-credentials-exported-custom-fields` on SQLite. */
const hex = (bytes: number) => `lower(hex(randomblob(${bytes})))`;

/** A random UUID of version 4. */
export const newId = `${hex(4)} || '-' || ${hex(2)} || '-4' || substr(${hex(2)}, 2) || '-a' || substr(${hex(2)}, 2) || '-' || ${hex(6)}`;

const partnerOf = "(select partner_id from organizations where id = new.org_id)";

const fields = [
  trigger(
    "custom_field_made",
    "after insert on custom_fields",
    `insert into export_rows (kind, id, partner_id, org_id, first_at, changed_at)
      values ('custom_field', new.id, coalesce(new.partner_id, ${partnerOf}), new.org_id, ${now}, ${now})`,
  ),
  trigger(
    "custom_field_changed",
    `after update of ${customFieldFields} on custom_fields when ${differs(customFieldFields)}`,
    touched("custom_field", "changed_at", "new.id"),
  ),
];

/** Values that are exported no more, remembered as removed from where they were. */
const valuesLeft = (which: string) => [
  `insert into export_removals (kind, row_id, partner_id, org_id, site_id, first_at, removed_at)
    select kind, id, partner_id, org_id, site_id, first_at, ${now} from export_rows
    where kind = 'custom_field_value' and ${which}`,
  `delete from export_rows where kind = 'custom_field_value' and ${which}`,
];

/** Fields of the device's organization and its partner that it has a value of. */
const had = `select f.id from custom_fields f
  where (f.org_id = new.org_id or f.partner_id = ${partnerOf})
    and new.status <> '${GONE}' and f.field_key in (select key from json_each(new.custom_fields))`;

const valuesCame = `insert into export_rows
    (kind, id, partner_id, org_id, site_id, device_id, field_id, first_at, changed_at)
  select 'custom_field_value', ${newId}, ${partnerOf}, new.org_id, new.site_id, new.id, id, ${now}, ${now}
  from (${had}) where id not in (select field_id from export_rows where device_id = new.id)`;

const valuesChanged = `update export_rows set changed_at = ${now}, site_id = new.site_id
  where kind = 'custom_field_value' and device_id = new.id and (
    site_id is not new.site_id
    or exists (select 1 from custom_fields f where f.id = field_id
      and (old.custom_fields -> ('$.' || f.field_key)) is not (new.custom_fields -> ('$.' || f.field_key))))`;

const values = [
  trigger("values_made", "after insert on devices when new.custom_fields <> '{}'", valuesCame),
  trigger(
    "values_changed",
    `after update of custom_fields, org_id, site_id, status on devices
      when ${differs(["custom_fields", "org_id", "site_id"])} or (old.status = '${GONE}') <> (new.status = '${GONE}')`,
    ...valuesLeft(`device_id = new.id and (org_id <> new.org_id or field_id not in (${had}))`),
    valuesCame,
    valuesChanged,
  ),
  trigger("values_gone", "after delete on devices", ...valuesLeft("device_id = old.id")),
  trigger(
    "custom_field_gone",
    "after delete on custom_fields",
    ...left("custom_field"),
    ...valuesLeft("field_id = old.id"),
  ),
];

export const exportedValuesSqlite: readonly string[] = [...fields, ...values];
