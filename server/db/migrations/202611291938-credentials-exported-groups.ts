import type { DialectName } from "../dialect/index.ts";
import type { SchemaChange } from "../schema-change.ts";
import { declared, defined } from "./export-triggers-postgres.ts";
import { now, trigger } from "./export-triggers-sqlite.ts";

/** Exports show the groups of a device (docs/credentials.md, "Exports"): who joins or leaves one has changed by that. */
export const migration: SchemaChange = { statements: (dialect) => triggers[dialect] };

const touched = (row: "old" | "new") =>
  `update export_rows set changed_at = ${now}, placed_at = ${now} where kind = 'device' and id = ${row}.device_id`;

/** Many join and leave in one statement. */
const stamp = `${declared} begin
  update public.export_rows set changed_at = at, placed_at = at
    where kind = 'device' and id in (select c.device_id from changed c);
  return null;
end`;

const cameOrWent = (name: string, event: "insert" | "delete") =>
  `create trigger export_${name} after ${event} on public.device_group_members
    referencing ${event === "insert" ? "new" : "old"} table as changed
    for each statement execute function public.export_groups()`;

const triggers: Record<DialectName, readonly string[]> = {
  sqlite: [
    trigger("group_joined", "after insert on device_group_members", touched("new")),
    trigger("group_left", "after delete on device_group_members", touched("old")),
  ],
  postgres: [
    ...defined(["export_groups", ") returns trigger", stamp]),
    cameOrWent("group_joined", "insert"),
    cameOrWent("group_left", "delete"),
  ],
};
