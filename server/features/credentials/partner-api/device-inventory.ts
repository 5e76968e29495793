import { isIP } from "node:net";
import type { Reader } from "#server/db/unit-of-work";
import { byDevice, COLLECTION_MAX, counted } from "./device-parts.ts";
import { devicesOf } from "./devices.ts";
import { type ExportCall, exportPage } from "./export.ts";
import type { FeedEntry } from "./feed.ts";

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
  if (rows.length === 0) return new Map<string, never>();
  const ids = rows.map((row) => row.id);
  const interfaces = byDevice(await interfacesOf(db, ids).execute());
  const disks = byDevice(await disksOf(db, ids).execute());
  return new Map(rows.map((row) => [row.id, view(row, interfaces.get(row.id) ?? [], disks.get(row.id) ?? [])]));
}

const interfacesOf = (db: Reader, deviceIds: readonly string[]) =>
  db
    .selectFrom("deviceInterfaces")
    .select(["deviceId", "interfaceName", "macAddress", "ipAddress", "isPrimaryInterface"])
    .where("deviceId", "in", deviceIds)
    .orderBy("interfaceName")
    .orderBy("id");
type Interface = Awaited<ReturnType<ReturnType<typeof interfacesOf>["executeTakeFirstOrThrow"]>>;

const disksOf = (db: Reader, deviceIds: readonly string[]) =>
  db
    .selectFrom("deviceDisks")
    .select(["deviceId", "mountPoint", "fsType", "totalGb"])
    .where("deviceId", "in", deviceIds)
    .orderBy("mountPoint")
    .orderBy("id");
type Disk = Awaited<ReturnType<ReturnType<typeof disksOf>["executeTakeFirstOrThrow"]>>;

function view(row: Row, reported: readonly Interface[], fileSystems: readonly Disk[]) {
  const disks = fileSystems.map(({ mountPoint, fsType, totalGb }) => ({ mountPoint, fileSystem: fsType, totalGb }));
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
    disks: disks.slice(0, COLLECTION_MAX),
    interfaces: interfaces.slice(0, COLLECTION_MAX),
    addresses: addresses.slice(0, COLLECTION_MAX),
    collections: {
      disks: counted(disks.length),
      interfaces: counted(interfaces.length),
      addresses: counted(addresses.length),
    },
  };
}

/** A report may name an address with its zone or prefix length. */
function familyOf(address: string): "ipv4" | "ipv6" | null {
  const family = isIP(address.split(/[%/]/)[0] ?? "");
  return family === 0 ? null : family === 4 ? "ipv4" : "ipv6";
}
