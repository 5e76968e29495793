import type { Reader } from "#server/db/unit-of-work";
import { byDevice, counted } from "./device-parts.ts";
import { devicesOf } from "./devices.ts";
import { type ExportCall, exportPage } from "./export.ts";
import type { FeedEntry } from "./feed.ts";

/** Programs in a row; a device may report ten times as many. */
const PROGRAMS_MAX = 1000;

export const exportSoftware = (call: ExportCall) => exportPage(call, "device-software", softwareOf);

async function softwareOf(db: Reader, entries: readonly FeedEntry[]) {
  const devices = await reporting(db, entries).execute();
  if (devices.length === 0) return new Map<string, never>();
  const ids = devices.map(({ id }) => id);
  const totals = new Map((await totalsOf(db, ids).execute()).map((row) => [row.deviceId, Number(row.total)]));
  const programs = byDevice(await programsOf(db, ids).execute());
  return new Map(
    devices.map(({ id, reportedAt }) => {
      const { complete, ...size } = counted(totals.get(id) ?? 0, PROGRAMS_MAX);
      const software = (programs.get(id) ?? []).map(({ name, version, vendor, installDate }) => ({
        ...{ name, version, vendor },
        installedOn: installDate,
      }));
      // What is installed on a device that has not said so yet is unknown, not nothing.
      return [id, { deviceId: id, software, collection: { ...size, complete: complete && reportedAt !== null } }];
    }),
  );
}

const reporting = (db: Reader, entries: readonly FeedEntry[]) =>
  devicesOf(db, entries)
    .leftJoin("deviceSoftwareReports as report", (join) =>
      join.onRef("report.orgId", "=", "devices.orgId").onRef("report.deviceId", "=", "devices.id"),
    )
    .select(["devices.id", "report.firstReportedAt as reportedAt"]);

const totalsOf = (db: Reader, deviceIds: readonly string[]) =>
  db
    .selectFrom("deviceSoftware")
    .select((eb) => ["deviceId", eb.fn.countAll().as("total")])
    .where("deviceId", "in", deviceIds)
    .groupBy("deviceId");

const programsOf = (db: Reader, deviceIds: readonly string[]) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom("deviceSoftware")
        .select(["deviceId", "name", "version", "vendor", "installDate"])
        .select(({ fn }) =>
          fn
            .agg<number>("row_number")
            .over((over) => over.partitionBy("deviceId").orderBy("name").orderBy("id"))
            .as("place"),
        )
        .where("deviceId", "in", deviceIds)
        .as("program"),
    )
    .select(["deviceId", "name", "version", "vendor", "installDate"])
    .where("place", "<=", PROGRAMS_MAX)
    .orderBy("deviceId")
    .orderBy("place");
