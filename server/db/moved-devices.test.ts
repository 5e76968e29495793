import { expect, it } from "vitest";
import { migrations } from "../generated/migrations.ts";
import { connectSqlite } from "./dialect/sqlite-connection.ts";

const NAME = "202611290310-fleet-moved-devices";
const time = "2026-01-01T00:00:00.000Z";

/** One row of each table that SQLite makes anew, in the order of its columns. */
const rows: Readonly<Record<string, readonly (string | number | null)[]>> = {
  device_hardware: ["o", "d", "Dell", "M", "S1", "cpu", 4, 8, 16, 32.5, null, "1.0", time],
  device_interfaces: ["i", "o", "d", "eth0", "aa:bb", "10.0.0.1", "255.0.0.0", null, 1],
  device_disks: ["k", "o", "d", "C:", "ntfs", 10.5, 4, 6.5, 38],
  device_software: ["s", "o", "d", "Editor", "1", "Acme", null, "/opt", null],
  device_software_reports: ["o", "d", time],
  device_metrics: ["o", "d", time, 1.5, 2.5, 3.5, "{}"],
  device_metric_hours: ["o", "d", time, 7, 1.5, 2.5, 3.5, "{}"],
  device_availability: ["a", "o", "d", "online", time],
};

it("an older embedded database keeps every row, index and trigger of the tables that are made anew", () => {
  const raw = connectSqlite(":memory:");
  const at = migrations.findIndex(({ name }) => name === NAME);
  for (const change of migrations.slice(0, at)) for (const text of change.statements("sqlite")) raw.exec(text);
  const tables = Object.keys(rows);
  const objects = () =>
    raw
      .prepare(
        `select type, name, tbl_name from sqlite_master where name not like 'sqlite_%'
          and tbl_name in (${tables.map((name) => `'${name}'`).join()}) order by type, name`,
      )
      .all() as { name: string }[];
  const stored = () => tables.map((table) => raw.prepare(`select * from ${table}`).raw().all());
  // The rows above them do not matter here.
  raw.pragma("foreign_keys = OFF");
  for (const [table, values] of Object.entries(rows))
    raw.prepare(`insert into ${table} values (${values.map(() => "?").join()})`).run(values);
  const before = objects();
  expect(before.filter(({ name }) => name.startsWith("export_")).length).toBeGreaterThan(5);
  for (const text of migrations[at]?.statements("sqlite") ?? []) raw.exec(text);
  expect(stored()).toEqual(
    tables.map((table) => [[...(rows[table] ?? []), ...(table === "device_availability" ? [null] : [])]]),
  );
  expect(objects().filter(({ name }) => name !== "device_availability_left")).toEqual(before);
  raw.close();
});
