import type { DialectName } from "../dialect/index.ts";
import { type SchemaChange, schemaText } from "../schema-change.ts";
import { deviceTimes, differs } from "./export-triggers.ts";
import { declared, defined, placedDevicesAnew, triggersOf } from "./export-triggers-postgres.ts";
import { now, partOfDevice, placedDevices, touched, trigger } from "./export-triggers-sqlite.ts";

/**
 * Exports show disks and software (docs/credentials.md, "Exports"): what changes them moves a device's inventory, or its
 * software, which has a time of its own. What is there already counts as changed now: no walk has told it before.
 */
export const migration: SchemaChange = {
  statements: (dialect) => [...columns(dialect), ...shownNow[dialect], ...triggers[dialect]],
};

const columns = schemaText(`
alter table export_rows add column software_at {ts};
create index export_rows_software on export_rows (partner_id, kind, software_at, id) where software_at is not null;
`);

const shownAt = (at: string) => [
  `update export_rows set inventory_at = ${at}, software_at = ${at} where kind = 'device'`,
];

const shownNow: Record<DialectName, readonly string[]> = {
  sqlite: shownAt(now),
  postgres: shownAt("clock_timestamp()"),
};

const diskFields = ["mount_point", "fs_type", "total_gb"];
const softwareFields = ["name", "version", "vendor", "install_date"];
const times = [...deviceTimes, "software_at"];

const onSqlite = placedDevices(times);

/** A report writes many programs in one statement, which stamps their device once. */
const softwareStamp = `${declared} begin
  if tg_level = 'ROW' then
    update public.export_rows set software_at = at where kind = 'device' and id = new.device_id;
  else
    update public.export_rows set software_at = at
      where kind = 'device' and id in (select c.device_id from changed c);
  end if;
  return null;
end`;

const cameOrWent = (table: string, name: string, event: "insert" | "delete") =>
  `create trigger export_${name} after ${event} on public.${table}
    referencing ${event === "insert" ? "new" : "old"} table as changed
    for each statement execute function public.export_software()`;

const triggers: Record<DialectName, readonly string[]> = {
  sqlite: [
    ...onSqlite.map((text) => `drop trigger ${text.split(" ")[2]}`),
    ...onSqlite,
    ...partOfDevice("disk", "device_disks", "inventory_at", diskFields),
    ...partOfDevice("software", "device_software", "software_at", softwareFields),
    trigger(
      "software_reported",
      "after insert on device_software_reports",
      touched("device", "software_at", "new.device_id"),
    ),
  ],
  postgres: [
    ...placedDevicesAnew(times),
    ...triggersOf("device_disks", "export_device_part('inventory')", diskFields),
    ...defined(["export_software", ") returns trigger", softwareStamp]),
    cameOrWent("device_software", "software_came", "insert"),
    cameOrWent("device_software", "software_gone", "delete"),
    `create trigger export_software_changed after update of ${softwareFields.join(", ")} on public.device_software
      for each row when ${differs(softwareFields)} execute function public.export_software()`,
    cameOrWent("device_software_reports", "software_reported", "insert"),
  ],
};
