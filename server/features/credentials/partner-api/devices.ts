import type { Reader } from "#server/db/unit-of-work";
import { type ExportCall, exportPage, walked } from "./export.ts";

const TAGS_MAX = 200;

/** Live devices of reachable organizations. */
export const liveDevices = (db: Reader) =>
  db
    .selectFrom("devices")
    .innerJoin("organizations", "organizations.id", "devices.orgId")
    .leftJoin("deviceHardware", (join) =>
      join.onRef("deviceHardware.orgId", "=", "devices.orgId").onRef("deviceHardware.deviceId", "=", "devices.id"),
    )
    .where("devices.status", "<>", "decommissioned");

const select = (db: Reader) =>
  liveDevices(db).select([
    "devices.id",
    "devices.orgId",
    "devices.siteId",
    "devices.updatedAt",
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
  exportPage(call, "devices", async (walk) => (await walked(select(call.db), "devices", walk).execute()).map(view));

const view = (row: Row) => ({
  id: row.id,
  orgId: row.orgId,
  siteId: row.siteId,
  sourceUpdatedAt: row.updatedAt,
  hostname: row.hostname,
  displayName: row.displayName,
  type: { os: row.osType, role: row.deviceRole, virtual: row.isVirtual },
  operatingSystem: { edition: row.osVersion, build: row.osBuild, architecture: row.architecture },
  installation: { enrolledAt: row.enrolledAt },
  hardwareIdentity: { serialNumber: row.serialNumber, manufacturer: row.manufacturer, model: row.model },
  tags: row.tags.slice(0, TAGS_MAX),
});
