import type { Tx } from "#server/db/unit-of-work";
import type { Services } from "#server/services";

interface Placed {
  id: string;
  orgId: string;
}

/** Hardware facts of a report; what it leaves out is unknown. */
export interface HardwareFacts {
  manufacturer?: string | null;
  model?: string | null;
  serialNumber?: string | null;
  cpuModel?: string | null;
  cpuCores?: number | null;
  cpuThreads?: number | null;
  ramTotalMb?: number | null;
  diskTotalGb?: number | null;
  gpuModel?: string | null;
  biosVersion?: string | null;
}

export interface InterfaceFacts {
  interfaceName: string;
  macAddress?: string | null;
  ipAddress?: string | null;
  subnetMask?: string | null;
  publicIp?: string | null;
  isPrimary?: boolean;
}

/** The serial number as it was, and as it is. */
export interface SerialChange {
  readonly from: string | null;
  readonly to: string | null;
}

/**
 * A report replaces the section as a whole (docs/fleet.md, "Inventory"); the same facts again write nothing. Answers how
 * the serial number of known hardware changed.
 */
export async function replaceHardware(
  tx: Tx,
  device: Placed,
  report: HardwareFacts,
  now: string,
): Promise<SerialChange | undefined> {
  const facts = {
    manufacturer: report.manufacturer ?? null,
    model: report.model ?? null,
    serialNumber: report.serialNumber ?? null,
    cpuModel: report.cpuModel ?? null,
    cpuCores: report.cpuCores ?? null,
    cpuThreads: report.cpuThreads ?? null,
    ramTotalMb: report.ramTotalMb ?? null,
    diskTotalGb: report.diskTotalGb ?? null,
    gpuModel: report.gpuModel ?? null,
    biosVersion: report.biosVersion ?? null,
  };
  const known = await tx
    .selectFrom("deviceHardware")
    .select(["manufacturer", "model", "serialNumber", "cpuModel", "cpuCores", "cpuThreads"])
    .select(["ramTotalMb", "diskTotalGb", "gpuModel", "biosVersion"])
    .where("orgId", "=", device.orgId)
    .where("deviceId", "=", device.id)
    .executeTakeFirst();
  if (known && isSame([known], [facts])) return undefined;
  const stamped = { ...facts, updatedAt: now };
  await tx
    .insertInto("deviceHardware")
    .values({ orgId: device.orgId, deviceId: device.id, ...stamped })
    .onConflict((conflict) => conflict.columns(["orgId", "deviceId"]).doUpdateSet(stamped))
    .execute();
  const [from, to] = [known?.serialNumber ?? null, facts.serialNumber];
  return known && from !== to ? { from, to } : undefined;
}

/**
 * The same list again writes nothing: to exports the rows would be new (docs/credentials.md, "What counts as a change").
 */
export async function replaceInterfaces(
  tx: Tx,
  device: Placed,
  report: readonly InterfaceFacts[],
  random: Services["random"],
): Promise<void> {
  const facts = report.map((item) => ({
    interfaceName: item.interfaceName,
    macAddress: item.macAddress ?? null,
    ipAddress: item.ipAddress ?? null,
    subnetMask: item.subnetMask ?? null,
    publicIp: item.publicIp ?? null,
    isPrimaryInterface: item.isPrimary ?? false,
  }));
  const known = await tx
    .selectFrom("deviceInterfaces")
    .select(["interfaceName", "macAddress", "ipAddress", "subnetMask", "publicIp", "isPrimaryInterface"])
    .where("orgId", "=", device.orgId)
    .where("deviceId", "=", device.id)
    .execute();
  if (isSame(known, facts)) return;
  await tx.deleteFrom("deviceInterfaces").where("orgId", "=", device.orgId).where("deviceId", "=", device.id).execute();
  if (facts.length === 0) return;
  await tx
    .insertInto("deviceInterfaces")
    .values(facts.map((item) => ({ id: random.uuid(), orgId: device.orgId, deviceId: device.id, ...item })))
    .execute();
}

/** In any order. */
function isSame(one: readonly object[], other: readonly object[]): boolean {
  const sorted = (rows: readonly object[]) => rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}
