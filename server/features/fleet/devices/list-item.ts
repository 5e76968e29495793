import type { Reader } from "#server/db/unit-of-work";
import { lanIpOf } from "./lan-ip.ts";
import type { DeviceRow } from "./queries.ts";

/**
 * Adds names, addresses, hardware and newest metrics to a page of devices (docs/fleet.md, "Devices"). One query each
 * for the whole page.
 */
export async function toListItems(db: Reader, rows: readonly DeviceRow[]) {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const siteIds = [...new Set(rows.flatMap((row) => row.siteId ?? []))];
  const [sites, hardware, interfaces, metrics] = await Promise.all([
    siteIds.length === 0 ? [] : db.selectFrom("sites").select(["id", "name"]).where("id", "in", siteIds).execute(),
    hardwareOf(db, ids),
    interfacesOf(db, ids),
    newestMetrics(db, ids),
  ]);
  const siteNames = new Map(sites.map((site) => [site.id, site.name]));
  const hardwareById = new Map(hardware.map(({ deviceId, ...facts }) => [deviceId, facts]));
  const metricsById = new Map(metrics.map(({ deviceId, ...sample }) => [deviceId, sample]));
  const interfacesById = new Map<string, typeof interfaces>();
  for (const item of interfaces)
    interfacesById.set(item.deviceId, [...(interfacesById.get(item.deviceId) ?? []), item]);
  return rows.map((row) => ({
    ...row,
    siteName: row.siteId === null ? null : (siteNames.get(row.siteId) ?? null),
    wanIp: row.lastSeenIp,
    lanIp: lanIpOf(interfacesById.get(row.id) ?? []),
    hardware: hardwareById.get(row.id) ?? null,
    metrics: metricsById.get(row.id) ?? null,
  }));
}

const hardwareOf = (db: Reader, ids: readonly string[]) =>
  db
    .selectFrom("deviceHardware")
    .select(["deviceId", "cpuModel", "cpuCores", "ramTotalMb", "diskTotalGb"])
    .where("deviceId", "in", ids)
    .execute();

const interfacesOf = (db: Reader, ids: readonly string[]) =>
  db
    .selectFrom("deviceInterfaces")
    .select(["deviceId", "interfaceName", "ipAddress", "isPrimaryInterface"])
    .where("deviceId", "in", ids)
    .execute();

/** By way of the devices, so that each costs two index lookups however many samples it has. */
const newestMetrics = (db: Reader, ids: readonly string[]) =>
  db
    .selectFrom("devices")
    .innerJoin("deviceMetrics", (join) =>
      join
        .onRef("deviceMetrics.orgId", "=", "devices.orgId")
        .onRef("deviceMetrics.deviceId", "=", "devices.id")
        .on("deviceMetrics.timestamp", "=", (eb) =>
          eb
            .selectFrom("deviceMetrics as newest")
            .select((inner) => inner.fn.max("newest.timestamp").as("timestamp"))
            .whereRef("newest.orgId", "=", "devices.orgId")
            .whereRef("newest.deviceId", "=", "devices.id"),
        ),
    )
    .where("devices.id", "in", ids)
    .select(["deviceMetrics.deviceId", "cpuPercent", "ramPercent", "diskPercent", "deviceMetrics.timestamp"])
    .execute();
