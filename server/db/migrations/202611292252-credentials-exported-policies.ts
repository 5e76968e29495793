import type { DialectName } from "../dialect/index.ts";
import { type SchemaChange, schemaText } from "../schema-change.ts";
import { differs } from "./export-triggers.ts";
import { declared, defined, triggersOf } from "./export-triggers-postgres.ts";
import { left, now, touched, trigger } from "./export-triggers-sqlite.ts";

/**
 * Exports show configuration policies and what they are assigned to (docs/credentials.md, "Exports"). A row of a whole
 * partner has no organization.
 */
export const migration: SchemaChange = {
  statements: (dialect) => [...kinds[dialect](dialect), ...present, ...triggers[dialect]],
};

const known = ["organization", "site", "device", "custom_field", "custom_field_value"]
  .concat("configuration_policy", "configuration_assignment")
  .map((kind) => `'${kind}'`)
  .join(", ");

const columns = `kind, id, partner_id, org_id, site_id, first_at, changed_at, inventory_at, placed_at, software_at,
  device_id, field_id`;

/** SQLite changes a column only with its table, whose rows wait beside it; triggers that write to it stay. */
const kinds: Record<DialectName, (dialect: DialectName) => readonly string[]> = {
  postgres: schemaText(`
alter table export_rows drop constraint export_rows_kind_check;
alter table export_rows add constraint export_rows_kind_check check (kind in (${known}));
`),
  sqlite: schemaText(`
create table export_rows_before as select * from export_rows;
drop table export_rows;
create table export_rows (kind text not null check (kind in (${known})), id {uuid} not null,
  partner_id {uuid} not null, org_id {uuid}, site_id {uuid}, first_at {ts} not null, changed_at {ts} not null,
  inventory_at {ts}, placed_at {ts}, software_at {ts}, device_id {uuid}, field_id {uuid}, primary key (kind, id)) {strict};
insert into export_rows (${columns}) select ${columns} from export_rows_before;
drop table export_rows_before;
create index export_rows_id on export_rows (partner_id, kind, id);
create index export_rows_changed on export_rows (partner_id, kind, changed_at, id);
create index export_rows_inventory on export_rows (partner_id, kind, inventory_at, id) where inventory_at is not null;
create index export_rows_placed on export_rows (partner_id, kind, placed_at, id) where placed_at is not null;
create index export_rows_software on export_rows (partner_id, kind, software_at, id) where software_at is not null;
create unique index export_rows_value on export_rows (device_id, field_id) where device_id is not null;
create index export_rows_field on export_rows (field_id) where field_id is not null;
`),
};

/** What is there already counts as changed when its policy last was. */
const present = [
  `insert into export_rows (kind, id, partner_id, org_id, first_at, changed_at)
    select 'configuration_policy', p.id, coalesce(p.partner_id, o.partner_id), p.org_id, p.created_at, p.updated_at
    from configuration_policies p left join organizations o on o.id = p.org_id`,
  `insert into export_rows (kind, id, partner_id, org_id, first_at, changed_at)
    select 'configuration_assignment', a.id, coalesce(a.partner_id, o.partner_id), a.org_id, a.created_at, a.created_at
    from configuration_policy_assignments a left join organizations o on o.id = a.org_id`,
];

const policyFields = ["name", "description", "status"];
const assignmentFields = ["priority", "role_filter", "os_filter"];

const came = (kind: string) => `insert into export_rows (kind, id, partner_id, org_id, first_at, changed_at)
  values ('${kind}', new.id, coalesce(new.partner_id, (select partner_id from organizations where id = new.org_id)),
    new.org_id, ${now}, ${now})`;

const ofPolicy = (row: "old" | "new") => touched("configuration_policy", "changed_at", `${row}.policy_id`);
const assignments = "select a.id from configuration_policy_assignments a where a.policy_id = new.id";

const sqlite = [
  trigger("policy_made", "after insert on configuration_policies", came("configuration_policy")),
  trigger(
    "policy_changed",
    `after update of ${policyFields} on configuration_policies when ${differs(policyFields)}`,
    touched("configuration_policy", "changed_at", "new.id"),
  ),
  // Its assignments are exported with its name.
  trigger(
    "policy_renamed",
    "after update of name on configuration_policies when old.name <> new.name",
    `update export_rows set changed_at = ${now} where kind = 'configuration_assignment' and id in (${assignments})`,
  ),
  trigger("policy_gone", "after delete on configuration_policies", ...left("configuration_policy")),
  trigger("policy_feature_made", "after insert on configuration_policy_features", ofPolicy("new")),
  trigger("policy_feature_changed", "after update of settings on configuration_policy_features", ofPolicy("new")),
  trigger("policy_feature_gone", "after delete on configuration_policy_features", ofPolicy("old")),
  trigger("assignment_made", "after insert on configuration_policy_assignments", came("configuration_assignment")),
  trigger(
    "assignment_changed",
    `after update of ${assignmentFields} on configuration_policy_assignments when ${differs(assignmentFields)}`,
    touched("configuration_assignment", "changed_at", "new.id"),
  ),
  trigger("assignment_gone", "after delete on configuration_policy_assignments", ...left("configuration_assignment")),
];

/** The argument names the kind. */
const owned = `${declared} begin
  if tg_op = 'DELETE' then
    perform public.export_leave(tg_argv[0], old.id, at);
  elsif tg_op = 'INSERT' then
    insert into public.export_rows (kind, id, partner_id, org_id, first_at, changed_at)
      values (tg_argv[0], new.id,
        coalesce(new.partner_id, (select o.partner_id from public.organizations o where o.id = new.org_id)),
        new.org_id, at, at);
  else
    update public.export_rows set changed_at = at where kind = tg_argv[0] and id = new.id;
  end if;
  return null;
end`;

const feature = `${declared} policy uuid; begin
  if tg_op = 'DELETE' then policy := old.policy_id; else policy := new.policy_id; end if;
  update public.export_rows set changed_at = at where kind = 'configuration_policy' and id = policy;
  return null;
end`;

const renamed = `${declared} begin
  update public.export_rows set changed_at = at where kind = 'configuration_assignment'
    and id in (select a.id from public.configuration_policy_assignments a where a.policy_id = new.id);
  return null;
end`;

const postgres = [
  ...defined(["export_owned", ") returns trigger", owned]),
  ...defined(["export_policy_feature", ") returns trigger", feature]),
  ...defined(["export_policy_renamed", ") returns trigger", renamed]),
  ...triggersOf("configuration_policies", "export_owned('configuration_policy')", policyFields),
  `create trigger export_policy_renamed after update of name on public.configuration_policies for each row
    when (old.name <> new.name) execute function public.export_policy_renamed()`,
  ...triggersOf("configuration_policy_features", "export_policy_feature()", ["settings"]),
  ...triggersOf("configuration_policy_assignments", "export_owned('configuration_assignment')", assignmentFields),
];

const triggers: Record<DialectName, readonly string[]> = { sqlite, postgres };
