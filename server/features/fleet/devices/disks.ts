import type { Tx } from "#server/db/unit-of-work";
import type { Services } from "#server/services";
import { rowChanges } from "./row-changes.ts";

export interface DiskFacts {
  mountPoint: string;
  fsType?: string | null | undefined;
  totalGb?: number | null | undefined;
  usedGb?: number | null | undefined;
  freeGb?: number | null | undefined;
  usedPercent?: number | null | undefined;
}

/** A report replaces the section as a whole (docs/fleet.md, "Inventory"). Under the lock of the device's row. */
export async function replaceDisks(
  tx: Tx,
  device: { id: string; orgId: string },
  report: readonly DiskFacts[],
  random: Services["random"],
): Promise<void> {
  const stored = await tx
    .selectFrom("deviceDisks")
    .select(["id", "mountPoint", "fsType", "totalGb", "usedGb", "freeGb", "usedPercent"])
    .where("orgId", "=", device.orgId)
    .where("deviceId", "=", device.id)
    .execute();
  const reported = report.map((disk) => ({
    mountPoint: disk.mountPoint,
    fsType: disk.fsType ?? null,
    totalGb: disk.totalGb ?? null,
    usedGb: disk.usedGb ?? null,
    freeGb: disk.freeGb ?? null,
    usedPercent: disk.usedPercent ?? null,
  }));
  const { added, changed, gone } = rowChanges(stored, reported, ({ mountPoint }) => mountPoint);
  if (gone.length > 0) await tx.deleteFrom("deviceDisks").where("id", "in", gone).execute();
  for (const { id, row } of changed) await tx.updateTable("deviceDisks").set(row).where("id", "=", id).execute();
  const rows = added.map((row) => ({ id: random.uuid(), orgId: device.orgId, deviceId: device.id, ...row }));
  if (rows.length > 0) await tx.insertInto("deviceDisks").values(rows).execute();
}
