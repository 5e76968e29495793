import type { DeviceStatus } from "#server/db/tables/fleet";
import type { Tx } from "#server/db/unit-of-work";
import type { Services } from "#server/services";

/**
 * What a sign of life of the main agent makes of each status (contract 1 E1). Maintenance is sticky; a
 * quarantined or decommissioned device does not get this far.
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

interface Placed {
  id: string;
  orgId: string;
}

/** Appends an online/offline change, the input of service-level reports (contract 1 E1). */
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
