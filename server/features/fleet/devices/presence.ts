import type { DeviceStatus } from "#server/db/tables/fleet";
import type { Tx } from "#server/db/unit-of-work";
import type { Services } from "#server/services";

/**
 * The status after a sign of life of the main agent (docs/fleet.md, "Device status"). Maintenance stays; a quarantined
 * or decommissioned device is refused before.
 */
export const aliveStatus: Readonly<Record<DeviceStatus, DeviceStatus>> = {
  pending: "online",
  online: "online",
  offline: "online",
  updating: "online",
  maintenance: "maintenance",
  quarantined: "quarantined",
  decommissioned: "decommissioned",
};

/** Statuses that count as reachable in service-level reports; null = the status says nothing about it. */
export function reachability(status: DeviceStatus): "online" | "offline" | null {
  if (status === "online" || status === "updating") return "online";
  return status === "offline" || status === "pending" ? "offline" : null;
}

/** A sign of life of the main agent makes it reachable again. */
export const comesOnline = (status: DeviceStatus): boolean =>
  reachability(status) === "offline" && aliveStatus[status] === "online";

interface Placed {
  id: string;
  orgId: string;
}

/** Appends an online/offline change (docs/fleet.md, "Availability"). */
export async function appendAvailability(
  tx: Tx,
  { clock, random }: Pick<Services, "clock" | "random">,
  state: "online" | "offline",
  devices: readonly Placed[],
): Promise<void> {
  if (devices.length === 0) return;
  const at = clock.now();
  await tx
    .insertInto("deviceAvailability")
    .values(devices.map(({ id, orgId }) => ({ id: random.uuid(), orgId, deviceId: id, state, at })))
    .execute();
}
