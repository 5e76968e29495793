import type { DialectName } from "../dialect/index.ts";
import { type SchemaChange, schemaText } from "../schema-change.ts";
import { exportedValuesPostgres } from "./exported-values-postgres.ts";
import { exportedValuesSqlite, newId } from "./exported-values-sqlite.ts";

/**
 * Exports show custom fields and their values (docs/credentials.md, "Exports"). A field of a whole partner is a row
 * without an organization. A value is a row of its own, with an id for as long as its device has it in its organization.
 */
export const migration: SchemaChange = {
  statements: (dialect) => [
    ...tables[dialect](dialect),
    ...indexes(dialect),
    ...present[dialect],
    ...triggers[dialect],
  ],
};

const kinds = "'organization', 'site', 'device', 'custom_field', 'custom_field_value'";

/** SQLite changes a column only with its table. Renaming one that triggers write to is an error, so it is emptied. */
const rebuilt = (table: string, columns: string, kept: string) => `
create table ${table}_before as select * from ${table};
drop table ${table};
create table ${table} (${columns}) {strict};
insert into ${table} (${kept}) select ${kept} from ${table}_before;
drop table ${table}_before;
`;

const rowsKept = "kind, id, partner_id, org_id, site_id, first_at, changed_at, inventory_at, placed_at, software_at";
const removalsKept = "seq, kind, row_id, partner_id, org_id, site_id, first_at, removed_at";

const tables: Record<DialectName, (dialect: DialectName) => readonly string[]> = {
  postgres: schemaText(`
alter table export_rows alter column org_id drop not null;
alter table export_rows drop constraint export_rows_kind_check;
alter table export_rows add constraint export_rows_kind_check check (kind in (${kinds}));
alter table export_rows add column device_id {uuid};
alter table export_rows add column field_id {uuid};
alter table export_removals alter column org_id drop not null;
`),
  sqlite: schemaText(
    [
      rebuilt(
        "export_rows",
        `kind text not null check (kind in (${kinds})), id {uuid} not null, partner_id {uuid} not null, org_id {uuid},
  site_id {uuid}, first_at {ts} not null, changed_at {ts} not null, inventory_at {ts}, placed_at {ts}, software_at {ts},
  device_id {uuid}, field_id {uuid}, primary key (kind, id)`,
        rowsKept,
      ),
      rebuilt(
        "export_removals",
        `seq {serial}, kind text not null, row_id {uuid} not null, partner_id {uuid} not null, org_id {uuid},
  site_id {uuid}, first_at {ts} not null, removed_at {ts} not null`,
        removalsKept,
      ),
      `create index export_rows_id on export_rows (partner_id, kind, id);
create index export_rows_changed on export_rows (partner_id, kind, changed_at, id);
create index export_rows_inventory on export_rows (partner_id, kind, inventory_at, id) where inventory_at is not null;
create index export_rows_placed on export_rows (partner_id, kind, placed_at, id) where placed_at is not null;
create index export_rows_software on export_rows (partner_id, kind, software_at, id) where software_at is not null;
create index export_removals_time on export_removals (partner_id, kind, removed_at, row_id);
create index export_removals_age on export_removals (removed_at);`,
    ].join("\n"),
  ),
};

const indexes = schemaText(`
create unique index export_rows_value on export_rows (device_id, field_id) where device_id is not null;
create index export_rows_field on export_rows (field_id) where field_id is not null;
`);

/** What is there already counts as changed when its row last was. */
const backfill = (keys: string, id: string): readonly string[] => [
  `insert into export_rows (kind, id, partner_id, org_id, first_at, changed_at)
    select 'custom_field', f.id, coalesce(f.partner_id, o.partner_id), f.org_id, f.created_at, f.updated_at
    from custom_fields f left join organizations o on o.id = f.org_id`,
  `insert into export_rows (kind, id, partner_id, org_id, site_id, device_id, field_id, first_at, changed_at)
    select 'custom_field_value', ${id}, o.partner_id, o.id, d.site_id, d.id, f.id, d.updated_at, d.updated_at
    from devices d join organizations o on o.id = d.org_id
    join custom_fields f on f.org_id = o.id or f.partner_id = o.partner_id
    where d.status <> 'decommissioned' and f.field_key in (${keys})`,
];

const present: Record<DialectName, readonly string[]> = {
  sqlite: backfill("select key from json_each(d.custom_fields)", newId),
  postgres: backfill("select jsonb_object_keys(d.custom_fields)", "gen_random_uuid()"),
};

const triggers: Record<DialectName, readonly string[]> = {
  sqlite: exportedValuesSqlite,
  postgres: exportedValuesPostgres,
};
