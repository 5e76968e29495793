import {
  deviceFields,
  deviceTimes,
  differs,
  GONE,
  hardwareFields,
  identityFields,
  interfaceFields,
  isOpen,
  organizationFields,
  siteFields,
} from "./export-triggers.ts";

/** The triggers of `202611281350-credentials-export-changes` on SQLite, named after what has happened. */
export const now = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

export const trigger = (name: string, when: string, ...statements: string[]) =>
  `create trigger export_${name} ${when} begin ${statements.map((statement) => `${statement};`).join(" ")} end`;

export const touched = (kind: string, column: string, id: string) =>
  `update export_rows set ${column} = ${now} where kind = '${kind}' and id = ${id}`;

/** It is exported no more, and remembered as removed from where it was. */
export const left = (kind: string) => [
  `insert into export_removals (kind, row_id, partner_id, org_id, site_id, first_at, removed_at)
    select kind, id, partner_id, org_id, site_id, first_at, ${now} from export_rows where kind = '${kind}' and id = old.id`,
  `delete from export_rows where kind = '${kind}' and id = old.id`,
];

const organizations = [
  trigger(
    "organization_made",
    "after insert on organizations",
    `insert into export_rows (kind, id, partner_id, org_id, first_at, changed_at)
      values ('organization', new.id, new.partner_id, new.id, ${now}, ${now})`,
    `insert into export_org_reach (org_id, partner_id, reached, changed_at)
      values (new.id, new.partner_id, ${isOpen("new")}, ${now})`,
  ),
  trigger(
    "organization_changed",
    `after update of ${organizationFields} on organizations when ${differs(organizationFields)}`,
    touched("organization", "changed_at", "new.id"),
  ),
  trigger(
    "organization_reached",
    `after update of status, deleted_at on organizations when ${isOpen("old")} <> ${isOpen("new")}`,
    `update export_org_reach set reached = ${isOpen("new")}, changed_at = ${now} where org_id = new.id`,
  ),
  trigger(
    "organization_gone",
    "after delete on organizations",
    ...left("organization"),
    `update export_org_reach set reached = 0, changed_at = ${now} where org_id = old.id and reached = 1`,
  ),
];

const sites = [
  trigger(
    "site_made",
    "after insert on sites",
    `insert into export_rows (kind, id, partner_id, org_id, site_id, first_at, changed_at)
      select 'site', new.id, partner_id, id, new.id, ${now}, ${now} from organizations where id = new.org_id`,
  ),
  trigger(
    "site_changed",
    `after update of ${siteFields} on sites when ${differs(siteFields)}`,
    touched("site", "changed_at", "new.id"),
  ),
  trigger("site_gone", "after delete on sites", ...left("site")),
];

const deviceMade = (times: readonly string[]) => `insert into export_rows
    (kind, id, partner_id, org_id, site_id, first_at, ${times.join(", ")})
  select 'device', new.id, partner_id, id, new.site_id, ${now}, ${times.map(() => now).join(", ")}
  from organizations where id = new.org_id`;

/** Devices come, go and move, which sets every time of their rows. */
export const placedDevices = (times: readonly string[]): string[] => [
  trigger("device_made", `after insert on devices when new.status <> '${GONE}'`, deviceMade(times)),
  trigger(
    "device_returned",
    `after update of status on devices when old.status = '${GONE}' and new.status <> '${GONE}'`,
    deviceMade(times),
  ),
  trigger(
    "device_left",
    `after update of status on devices when old.status <> '${GONE}' and new.status = '${GONE}'`,
    ...left("device"),
  ),
  trigger("device_gone", "after delete on devices", ...left("device")),
  trigger(
    "device_moved",
    `after update of org_id, site_id on devices
      when ${differs(["org_id", "site_id"])} and old.status <> '${GONE}' and new.status <> '${GONE}'`,
    `insert into export_removals (kind, row_id, partner_id, org_id, site_id, first_at, removed_at)
      select kind, id, partner_id, org_id, site_id, first_at, ${now} from export_rows where kind = 'device' and id = new.id`,
    `update export_rows set org_id = new.org_id, site_id = new.site_id,
      partner_id = (select partner_id from organizations where id = new.org_id),
      ${times.map((time) => `${time} = ${now}`).join(", ")} where kind = 'device' and id = new.id`,
  ),
];

const devices = [
  ...placedDevices(deviceTimes),
  trigger(
    "device_changed",
    `after update of ${deviceFields} on devices when ${differs(deviceFields)}`,
    touched("device", "changed_at", "new.id"),
  ),
];

export const partOfDevice = (name: string, table: string, column: string, fields: readonly string[]) => [
  trigger(`${name}_made`, `after insert on ${table}`, touched("device", column, "new.device_id")),
  trigger(
    `${name}_changed`,
    `after update of ${fields} on ${table} when ${differs(fields)}`,
    touched("device", column, "new.device_id"),
  ),
  trigger(`${name}_gone`, `after delete on ${table}`, touched("device", column, "old.device_id")),
];

const inventory = [
  ...partOfDevice("identity", "device_hardware", "changed_at", identityFields),
  ...partOfDevice("hardware", "device_hardware", "inventory_at", hardwareFields),
  ...partOfDevice("interface", "device_interfaces", "inventory_at", interfaceFields),
];

const chosen = "org_id from partner_service_principal_orgs where principal_id = new.id";
const isSelected = (row: "old" | "new") =>
  `(select org_access from partner_service_principals where id = ${row}.principal_id) = 'selected'`;

const principals = [
  trigger(
    "principal_access",
    "after update of org_access on partner_service_principals when old.org_access <> new.org_access",
    `insert into export_principal_reach (principal_id, org_id, partner_id, reached, changed_at)
      select new.id, id, partner_id, new.org_access = 'all' or id in (select ${chosen}), ${now}
      from organizations where partner_id = new.partner_id and deleted_at is null
      on conflict (principal_id, org_id) do update set reached = excluded.reached, changed_at = excluded.changed_at
        where export_principal_reach.reached <> excluded.reached`,
  ),
  trigger(
    "principal_gone",
    "after delete on partner_service_principals",
    "delete from export_principal_reach where principal_id = old.id",
  ),
  trigger(
    "organization_chosen",
    `after insert on partner_service_principal_orgs when ${isSelected("new")}`,
    `insert into export_principal_reach (principal_id, org_id, partner_id, reached, changed_at)
      values (new.principal_id, new.org_id, new.partner_id, 1, ${now})
      on conflict (principal_id, org_id) do update set reached = 1, changed_at = excluded.changed_at
        where export_principal_reach.reached = 0`,
  ),
  trigger(
    "organization_dropped",
    `after delete on partner_service_principal_orgs when ${isSelected("old")}`,
    `update export_principal_reach set reached = 0, changed_at = ${now}
      where principal_id = old.principal_id and org_id = old.org_id and reached = 1`,
  ),
];

export const exportTriggersSqlite: readonly string[] = [
  ...organizations,
  ...sites,
  ...devices,
  ...inventory,
  ...principals,
];
