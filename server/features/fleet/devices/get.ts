import type { Endpoint } from "#contract/core/endpoint";
import type { devices } from "#contract/resources/fleet/devices";
import { stretchOf } from "#server/db/dialect/ordering";
import { withPending } from "#server/features/fleet/device-commands/pending-counts";
import type { Call } from "#server/http/call";
import { after, DAY } from "#server/platform/clock";
import { lanIpOf } from "./lan-ip.ts";
import { getDevice } from "./queries.ts";

type GetCall = typeof devices.get extends Endpoint<infer T> ? Call<T> : never;

const RECENT_MAX = 288;
const STRETCH_SECONDS = 300;

/** A device with everything known about it (docs/fleet.md, "Devices"). */
export async function showDevice(call: GetCall) {
  const device = await getDevice(call, call.db, call.params.id);
  const mine = { orgId: device.orgId, deviceId: device.id };
  const [site, hardware, disks, interfaces, groups, metrics, recentMetrics, [pending]] = await Promise.all([
    findSite(call, device.siteId),
    findHardware(call, mine),
    listDisks(call, mine),
    listInterfaces(call, mine),
    listGroups(call, mine),
    findNewest(call, mine),
    listRecent(call, mine),
    withPending(call.db, [{ id: device.id }]),
  ]);
  return {
    ...device,
    siteName: site?.name ?? null,
    siteTimezone: site?.timezone ?? null,
    wanIp: device.lastSeenIp,
    lanIp: lanIpOf(interfaces),
    metrics: metrics ?? null,
    hardware: hardware ?? null,
    disks,
    networkInterfaces: interfaces.map(({ isPrimaryInterface, ...item }) => ({
      ...item,
      isPrimary: isPrimaryInterface,
    })),
    groups,
    recentMetrics,
    pendingCommandCount: pending?.pendingCommandCount ?? 0,
  };
}

interface Mine {
  orgId: string;
  deviceId: string;
}

async function findSite(call: GetCall, siteId: string | null) {
  if (siteId === null) return undefined;
  return call.db.selectFrom("sites").select(["name", "timezone"]).where("id", "=", siteId).executeTakeFirst();
}

const findHardware = (call: GetCall, mine: Mine) =>
  call.db
    .selectFrom("deviceHardware")
    .select(["manufacturer", "model", "serialNumber", "cpuModel", "cpuCores", "cpuThreads"])
    .select(["ramTotalMb", "diskTotalGb", "gpuModel", "biosVersion"])
    .where("orgId", "=", mine.orgId)
    .where("deviceId", "=", mine.deviceId)
    .executeTakeFirst();

const listDisks = (call: GetCall, mine: Mine) =>
  call.db
    .selectFrom("deviceDisks")
    .select(["mountPoint", "fsType", "totalGb", "usedGb", "freeGb", "usedPercent"])
    .where("orgId", "=", mine.orgId)
    .where("deviceId", "=", mine.deviceId)
    .orderBy("mountPoint")
    .orderBy("id")
    .execute();

const listInterfaces = (call: GetCall, mine: Mine) =>
  call.db
    .selectFrom("deviceInterfaces")
    .select(["interfaceName", "macAddress", "ipAddress", "subnetMask", "publicIp", "isPrimaryInterface"])
    .where("orgId", "=", mine.orgId)
    .where("deviceId", "=", mine.deviceId)
    .orderBy("isPrimaryInterface", "desc")
    .orderBy("interfaceName")
    .orderBy("id")
    .execute();

/** Those that the caller sees. */
const listGroups = (call: GetCall, mine: Mine) =>
  call.db
    .selectFrom("deviceGroupMembers")
    .innerJoin("deviceGroups", "deviceGroups.id", "deviceGroupMembers.groupId")
    .select(["deviceGroups.id as groupId", "deviceGroups.name", "deviceGroups.type", "deviceGroupMembers.isPinned"])
    .where("deviceGroupMembers.orgId", "=", mine.orgId)
    .where("deviceGroupMembers.deviceId", "=", mine.deviceId)
    .orderBy("deviceGroups.nameKey")
    .execute();

const samples = (call: GetCall, mine: Mine) =>
  call.db.selectFrom("deviceMetrics").where("orgId", "=", mine.orgId).where("deviceId", "=", mine.deviceId);

const findNewest = (call: GetCall, mine: Mine) =>
  samples(call, mine)
    .select(["cpuPercent", "ramPercent", "diskPercent", "timestamp"])
    .orderBy("timestamp", "desc")
    .limit(1)
    .executeTakeFirst();

/** The last 24 hours, oldest first: the mean of each five minutes, at the time of their last sample. */
async function listRecent(call: GetCall, mine: Mine) {
  const { dialect } = call.services.store;
  const rows = await samples(call, mine)
    .where("timestamp", ">", after(call.clock.now(), -DAY))
    .select((eb) => [
      eb.fn.avg<number>("cpuPercent").as("cpuPercent"),
      eb.fn.avg<number>("ramPercent").as("ramPercent"),
      eb.fn.avg<number>("diskPercent").as("diskPercent"),
      eb.fn.max("timestamp").as("timestamp"),
    ])
    .groupBy((eb) => stretchOf(eb.ref("timestamp"), STRETCH_SECONDS, dialect))
    .orderBy((eb) => eb.fn.max("timestamp"), "desc")
    .limit(RECENT_MAX)
    .execute();
  const tidy = (percent: number) => Math.round(percent * 100) / 100;
  return rows.toReversed().map((row) => ({
    cpuPercent: tidy(row.cpuPercent),
    ramPercent: tidy(row.ramPercent),
    diskPercent: tidy(row.diskPercent),
    timestamp: row.timestamp,
  }));
}
