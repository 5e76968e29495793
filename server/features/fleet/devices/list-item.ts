import { withIds } from "#server/db/dialect/json";
import { preparedRows } from "#server/db/prepared";
import type { Reader } from "#server/db/unit-of-work";
import { lanIpOf } from "./lan-ip.ts";
import { deviceColumns } from "./queries.ts";

type Ids = { ids: string[] };

/**
 * A page of devices in the order of these ids, with names, addresses, hardware and newest metrics (docs/fleet.md,
 * "Devices"). One query each for the whole page.
 */
export async function listItems(db: Reader, ids: string[]) {
  if (ids.length === 0) return [];
  const [rows, interfaces, metrics] = await Promise.all([
    rowsOf(db, { ids }, null),
    interfacesOf(db, { ids }, null),
    newestMetrics(db, { ids }, null),
  ]);
  const rowsById = new Map(rows.map((row) => [row.id, row]));
  const metricsById = new Map(metrics.map(({ deviceId, ...sample }) => [deviceId, sample]));
  const interfacesById = new Map<string, typeof interfaces>();
  for (const item of interfaces) {
    const known = interfacesById.get(item.deviceId);
    if (known) known.push(item);
    else interfacesById.set(item.deviceId, [item]);
  }
  return ids.flatMap((id) => {
    const found = rowsById.get(id);
    // It was removed since its id was read.
    if (!found) return [];
    const { hardwareOf, cpuModel, cpuCores, ramTotalMb, diskTotalGb, ...row } = found;
    return [
      {
        ...row,
        wanIp: row.lastSeenIp,
        lanIp: lanIpOf(interfacesById.get(id) ?? []),
        hardware: hardwareOf === null ? null : { cpuModel, cpuCores, ramTotalMb, diskTotalGb },
        metrics: metricsById.get(id) ?? null,
      },
    ];
  });
}

const rowsOf = preparedRows((db, { ids }: Ids) =>
  withIds(db, "devices", ids)
    .innerJoin("organizations", "organizations.id", "devices.orgId")
    .leftJoin("sites", (join) =>
      join.onRef("sites.orgId", "=", "devices.orgId").onRef("sites.id", "=", "devices.siteId"),
    )
    .leftJoin("deviceHardware", (join) =>
      join.onRef("deviceHardware.orgId", "=", "devices.orgId").onRef("deviceHardware.deviceId", "=", "devices.id"),
    )
    .select(deviceColumns)
    .select(["organizations.name as orgName", "sites.name as siteName", "deviceHardware.deviceId as hardwareOf"])
    .select(["cpuModel", "cpuCores", "ramTotalMb", "diskTotalGb"]),
);

/** By way of the devices: their keys begin with the organization, of which a caller may reach thousands. */
const interfacesOf = preparedRows((db, { ids }: Ids) =>
  withIds(db, "devices", ids)
    .innerJoin("deviceInterfaces", (join) =>
      join.onRef("deviceInterfaces.orgId", "=", "devices.orgId").onRef("deviceInterfaces.deviceId", "=", "devices.id"),
    )
    .select(["deviceInterfaces.deviceId", "interfaceName", "ipAddress", "isPrimaryInterface"]),
);

/** Each costs two index lookups however many samples it has. */
const newestMetrics = preparedRows((db, { ids }: Ids) =>
  withIds(db, "devices", ids)
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
    .select(["deviceMetrics.deviceId", "cpuPercent", "ramPercent", "diskPercent", "deviceMetrics.timestamp"]),
);
