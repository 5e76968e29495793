import type { Kysely, SelectQueryBuilder } from "kysely";
import { withIds } from "#server/db/dialect/json";
import { preparedRows, runOnce } from "#server/db/prepared";
import type { Database } from "#server/db/tables";
import type { Reader } from "#server/db/unit-of-work";
import { withPending } from "#server/features/fleet/device-commands/pending-counts";
import { lanIpOf } from "./lan-ip.ts";
import { deviceColumns } from "./queries.ts";

type Ids = { ids: string[] };

interface More {
  readonly pending?: boolean | undefined;
  /** Those that are still to be shown; the statement that reads a device asks for it. */
  readonly still?:
    | ((db: Kysely<Database>, ids: string[]) => SelectQueryBuilder<Database, "devices", { id: string }>)
    | undefined;
}

/**
 * A page of devices in the order of these ids, with names, addresses, hardware and newest metrics (docs/fleet.md,
 * "Devices"). One query each for the whole page.
 */
export async function listItems(db: Reader, ids: string[], { pending, still }: More = {}) {
  if (ids.length === 0) return [];
  const parts = Promise.all([
    interfacesOf(db, { ids }, null),
    hardwareOf(db, { ids }, null),
    newestMetrics(db, { ids }, null),
  ]);
  // Judged last: who has changed meanwhile in what another table says of it is left out too.
  const read = still
    ? parts.then(() => runOnce(db, (of) => withNames(of, ids).where("devices.id", "in", still(of, ids)), narrowing))
    : rowsOf(db, { ids }, null);
  const [rows, [interfaces, hardware, metrics]] = await Promise.all([read, parts]);
  const items = new Map(rows.map((row) => [row.id, row]));
  for (const [id, own] of grouped(interfaces)) {
    const item = items.get(id);
    if (item) item.lanIp = lanIpOf(own);
  }
  for (const { deviceId, ...parts } of hardware) {
    const item = items.get(deviceId);
    if (item) item.hardware = parts;
  }
  for (const { deviceId, ...sample } of metrics) {
    const item = items.get(deviceId);
    if (item) item.metrics = sample;
  }
  // A device may have been removed since its id was read, or is not among those still to be shown.
  const shown = ids.flatMap((id) => items.get(id) ?? []);
  return pending === true ? withPending(db, shown) : shown;
}

function grouped<R extends { deviceId: string }>(rows: readonly R[]): ReadonlyMap<string, R[]> {
  const groups = new Map<string, R[]>();
  for (const row of rows) {
    const known = groups.get(row.deviceId);
    if (known) known.push(row);
    else groups.set(row.deviceId, [row]);
  }
  return groups;
}

type Hardware = {
  cpuModel: string | null;
  cpuCores: number | null;
  ramTotalMb: number | null;
  diskTotalGb: number | null;
};

type Sample = {
  cpuPercent: number;
  ramPercent: number;
  diskPercent: number;
  timestamp: string;
};

/** With room for what other queries find: a copy of such a wide row costs more than to read it. */
const withNames = (db: Kysely<Database>, ids: string[]) =>
  withIds(db, "devices", ids)
    .innerJoin("organizations", "organizations.id", "devices.orgId")
    .leftJoin("sites", (join) =>
      join.onRef("sites.orgId", "=", "devices.orgId").onRef("sites.id", "=", "devices.siteId"),
    )
    .select(deviceColumns)
    .select(["organizations.name as orgName", "sites.name as siteName", "devices.lastSeenIp as wanIp"])
    .select((eb) => [
      eb.lit(null).$castTo<string | null>().as("lanIp"),
      eb.lit(null).$castTo<Hardware | null>().as("hardware"),
      eb.lit(null).$castTo<Sample | null>().as("metrics"),
    ]);

const narrowing = { by: "devices by key" } as const;
const rowsOf = preparedRows((db, { ids }: Ids) => withNames(db, ids), { by: "key" });

/** By way of the devices: their keys begin with the organization, of which a caller may reach thousands. */
const interfacesOf = preparedRows(
  (db, { ids }: Ids) =>
    withIds(db, "devices", ids)
      .innerJoin("deviceInterfaces", (join) =>
        join
          .onRef("deviceInterfaces.orgId", "=", "devices.orgId")
          .onRef("deviceInterfaces.deviceId", "=", "devices.id"),
      )
      .select(["deviceInterfaces.deviceId", "interfaceName", "ipAddress", "isPrimaryInterface"]),
  { by: "key" },
);

const hardwareOf = preparedRows(
  (db, { ids }: Ids) =>
    withIds(db, "devices", ids)
      .innerJoin("deviceHardware", (join) =>
        join.onRef("deviceHardware.orgId", "=", "devices.orgId").onRef("deviceHardware.deviceId", "=", "devices.id"),
      )
      .select(["deviceHardware.deviceId", "cpuModel", "cpuCores", "ramTotalMb", "diskTotalGb"]),
  { by: "key" },
);

/** Each costs two index lookups however many samples it has. */
const newestMetrics = preparedRows(
  (db, { ids }: Ids) =>
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
  { by: "key" },
);
