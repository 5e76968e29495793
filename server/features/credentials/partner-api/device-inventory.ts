import { isIP } from "node:net";
import type { Reader } from "#server/db/unit-of-work";
import { devicesOf } from "./devices.ts";
import { type ExportCall, exportPage } from "./export.ts";
import type { FeedEntry } from "./feed.ts";

const COLLECTION_MAX = 500;

const select = (db: Reader, entries: readonly FeedEntry[]) =>
  devicesOf(db, entries).select([
    "devices.id",
    "deviceHardware.cpuModel",
    "deviceHardware.cpuCores",
    "deviceHardware.ramTotalMb",
    "deviceHardware.gpuModel",
    "deviceHardware.biosVersion",
  ]);
type Row = Awaited<ReturnType<ReturnType<typeof select>["executeTakeFirstOrThrow"]>>;

export const exportInventory = (call: ExportCall) => exportPage(call, "device-inventory", inventoryOf);

async function inventoryOf(db: Reader, entries: readonly FeedEntry[]) {
  const rows = await select(db, entries).execute();
  const interfaces = await interfacesOf(
    db,
    rows.map((row) => row.id),
  );
  return new Map(rows.map((row) => [row.id, view(row, interfaces.get(row.id) ?? [])]));
}

async function interfacesOf(db: Reader, deviceIds: readonly string[]) {
  const byDevice = new Map<string, Interface[]>();
  if (deviceIds.length === 0) return byDevice;
  const rows = await db
    .selectFrom("deviceInterfaces")
    .select(["deviceId", "interfaceName", "macAddress", "ipAddress", "isPrimaryInterface"])
    .where("deviceId", "in", deviceIds)
    .orderBy("interfaceName")
    .orderBy("id")
    .execute();
  for (const { deviceId, ...one } of rows) byDevice.set(deviceId, [...(byDevice.get(deviceId) ?? []), one]);
  return byDevice;
}

interface Interface {
  interfaceName: string;
  macAddress: string | null;
  ipAddress: string | null;
  isPrimaryInterface: boolean;
}

function view(row: Row, reported: readonly Interface[]) {
  const interfaces = reported.map((one) => ({
    name: one.interfaceName,
    macAddress: one.macAddress,
    primary: one.isPrimaryInterface,
  }));
  const addresses = reported.flatMap(({ interfaceName, ipAddress }) =>
    ipAddress === null
      ? []
      : [{ interfaceName, address: ipAddress, family: familyOf(ipAddress), assignment: null, active: true }],
  );
  return {
    deviceId: row.id,
    hardware: {
      processor: { model: row.cpuModel, cores: row.cpuCores },
      memory: { totalMb: row.ramTotalMb },
      graphics: { model: row.gpuModel },
      firmware: { biosVersion: row.biosVersion },
    },
    interfaces: interfaces.slice(0, COLLECTION_MAX),
    addresses: addresses.slice(0, COLLECTION_MAX),
    collections: { interfaces: counted(interfaces.length), addresses: counted(addresses.length) },
  };
}

/** How much of a list a row holds. */
export const counted = (total: number) => ({
  total,
  included: Math.min(total, COLLECTION_MAX),
  complete: total <= COLLECTION_MAX,
});

/** A report may name an address with its zone or prefix length. */
function familyOf(address: string): "ipv4" | "ipv6" | null {
  const family = isIP(address.split(/[%/]/)[0] ?? "");
  return family === 0 ? null : family === 4 ? "ipv4" : "ipv6";
}
