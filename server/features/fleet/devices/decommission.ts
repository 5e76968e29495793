import type { DeviceStatus } from "#server/db/tables/fleet";
import type { Tx } from "#server/db/unit-of-work";
import type { EventServices } from "#server/room-hooks";

interface Leaving {
  readonly id: string;
  readonly orgId: string;
  readonly from: DeviceStatus;
  readonly now: string;
}

/**
 * The terminal status, with what every room takes back from the device. Its tokens stay for a while, so that its agent is
 * told why it is refused. Needs an unscoped transaction. Undefined when the status is no longer what was read.
 */
export async function decommission(
  tx: Tx,
  services: EventServices,
  { id, orgId, from, now }: Leaving,
): Promise<Record<string, unknown> | undefined> {
  const gone = await tx
    .updateTable("devices")
    .set({
      status: "decommissioned",
      decommissionedAt: now,
      maintenanceUntil: null,
      enrollmentProof: null,
      enrollmentProofUntil: null,
      updatedAt: now,
    })
    .where("id", "=", id)
    .where("status", "=", from)
    .executeTakeFirst();
  if (gone.numUpdatedRows !== 1n) return undefined;
  return services.hooks.onDeviceGone({ tx, services, deviceId: id, orgId, reason: "device_decommissioned", now });
}
