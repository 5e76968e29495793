import { expect, it } from "vitest";
import { migrations } from "../generated/migrations.ts";
import { connectSqlite } from "./dialect/sqlite-connection.ts";

const NAME = "202611290410-credentials-exported-custom-fields";
const time = "2026-01-01T00:00:00.000Z";

it("an older embedded database keeps what exports know, and every index of it", () => {
  const raw = connectSqlite(":memory:");
  const at = migrations.findIndex(({ name }) => name === NAME);
  for (const change of migrations.slice(0, at)) for (const text of change.statements("sqlite")) raw.exec(text);
  const columns = "kind, id, partner_id, org_id, site_id, first_at, changed_at, inventory_at, placed_at, software_at";
  const row = ["device", "d", "p", "o", "s", time, "b", "c", "e", "f"];
  raw.prepare(`insert into export_rows (${columns}) values (${row.map(() => "?").join()})`).run(row);
  const removal = [7, "site", "r", "p", "o", "r", time, time];
  raw.prepare(`insert into export_removals values (${removal.map(() => "?").join()})`).run(removal);
  const objects = () =>
    raw
      .prepare(
        "select type, name from sqlite_master where tbl_name in ('export_rows', 'export_removals') order by name",
      )
      .all() as { name: string }[];
  const before = objects();
  for (const text of migrations[at]?.statements("sqlite") ?? []) raw.exec(text);
  expect(raw.prepare(`select ${columns} from export_rows`).raw().all()).toEqual([row]);
  expect(raw.prepare("select * from export_removals").raw().all()).toEqual([removal]);
  expect(objects().filter(({ name }) => !["export_rows_value", "export_rows_field"].includes(name))).toEqual(before);
  raw
    .prepare("insert into export_removals (kind, row_id, partner_id, first_at, removed_at) values (?, ?, ?, ?, ?)")
    .run(["custom_field", "x", "p", time, time]);
  expect(raw.prepare("select max(seq) from export_removals").pluck().get()).toBe(8);
  raw.close();
});
