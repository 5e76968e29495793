import type { Reader } from "#server/db/unit-of-work";
import { byDevice, COLLECTION_MAX, counted } from "./device-parts.ts";
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
  exportPage(call, "devices", async (db, entries) => {
    const groups = await groupsOf(db, entries);
    const rows = await select(db, entries).execute();
    return new Map(rows.map((row) => [row.id, { ...view(row), ...listed(groups.get(row.id) ?? []) }]));
  });

const listed = (groups: readonly { groupId: string }[]) => ({
  groupIds: groups.slice(0, COLLECTION_MAX).map(({ groupId }) => groupId),
  groupMembership: counted(groups.length),
});

/** The groups of a page's devices, in the order of their ids. */
export async function groupsOf(db: Reader, entries: readonly FeedEntry[]) {
  const members = await db
    .selectFrom("deviceGroupMembers")
    .innerJoin("devices", (join) =>
      join
        .onRef("devices.orgId", "=", "deviceGroupMembers.orgId")
        .onRef("devices.id", "=", "deviceGroupMembers.deviceId"),
    )
    .select(["deviceGroupMembers.deviceId", "deviceGroupMembers.groupId"])
    .where("devices.id", "in", idsOf(entries))
    .orderBy("deviceGroupMembers.groupId")
    .execute();
  return byDevice(members);
}

const view = (row: Row) => ({
  hostname: row.hostname,
  displayName: row.displayName,
  type: { os: row.osType, role: row.deviceRole, virtual: row.isVirtual },
  operatingSystem: { edition: row.osVersion, build: row.osBuild, architecture: row.architecture },
  installation: { enrolledAt: row.enrolledAt },
  hardwareIdentity: { serialNumber: row.serialNumber, manufacturer: row.manufacturer, model: row.model },
  tags: row.tags.slice(0, TAGS_MAX),
});
