import type { Reader } from "#server/db/unit-of-work";
import { type ExportCall, exportPage } from "./export.ts";
import { type FeedEntry, idsOf } from "./feed.ts";

const TAGS_MAX = 200;

/** The devices of a page with their hardware. */
export const devicesOf = (db: Reader, entries: readonly FeedEntry[]) =>
  db
    .selectFrom("devices")
    .leftJoin("deviceHardware", (join) =>
      join.onRef("deviceHardware.orgId", "=", "devices.orgId").onRef("deviceHardware.deviceId", "=", "devices.id"),
    )
    .where("devices.id", "in", idsOf(entries));

const select = (db: Reader, entries: readonly FeedEntry[]) =>
  devicesOf(db, entries).select([
    "devices.id",
    "devices.hostname",
    "devices.displayName",
    "devices.osType",
    "devices.osVersion",
    "devices.osBuild",
    "devices.architecture",
    "devices.deviceRole",
    "devices.isVirtual",
    "devices.enrolledAt",
    "devices.tags",
    "deviceHardware.serialNumber",
    "deviceHardware.manufacturer",
    "deviceHardware.model",
  ]);
type Row = Awaited<ReturnType<ReturnType<typeof select>["executeTakeFirstOrThrow"]>>;

export const exportDevices = (call: ExportCall) =>
  exportPage(
    call,
    "devices",
    async (db, entries) => new Map((await select(db, entries).execute()).map((row) => [row.id, view(row)])),
  );

const view = (row: Row) => ({
  hostname: row.hostname,
  displayName: row.displayName,
  type: { os: row.osType, role: row.deviceRole, virtual: row.isVirtual },
  operatingSystem: { edition: row.osVersion, build: row.osBuild, architecture: row.architecture },
  installation: { enrolledAt: row.enrolledAt },
  hardwareIdentity: { serialNumber: row.serialNumber, manufacturer: row.manufacturer, model: row.model },
  tags: row.tags.slice(0, TAGS_MAX),
});
