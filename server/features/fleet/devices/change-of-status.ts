import type { DeviceStatus } from "#server/db/tables/fleet";
import { after, DAY, HOUR, MINUTE } from "#server/platform/clock";
import { invalid, problem } from "#server/problem";

interface Known {
  readonly status: DeviceStatus;
  readonly lastSeenAt: string | null;
}

interface Asked {
  readonly maintenance?: boolean | undefined;
  readonly maintenanceUntil?: string | undefined;
  readonly quarantined?: boolean | undefined;
  readonly quarantinedReason?: string | undefined;
}

export interface StatusChange {
  readonly status?: DeviceStatus;
  readonly maintenanceUntil?: string | null;
  readonly quarantinedAt?: string | null;
  readonly quarantinedReason?: string | null;
}

interface Now {
  readonly now: string;
  readonly offlineAfterMinutes: number;
}

const LASTS_MS = 8 * HOUR;
const LASTS_MAX_MS = 7 * DAY;

/** What a person's word does to the status of a device (docs/fleet.md, "Device status"), or why not. */
export function changeOfStatus(device: Known, asked: Asked, at: Now): StatusChange {
  const { maintenance, maintenanceUntil, quarantined, quarantinedReason } = asked;
  if (quarantined !== undefined && maintenance !== undefined)
    throw invalid({ path: "quarantined", message: "quarantined: not together with maintenance" });
  if (quarantinedReason !== undefined && quarantined !== true)
    throw invalid({ path: "quarantinedReason", message: "quarantinedReason: only with quarantined" });
  if (maintenanceUntil !== undefined && maintenance !== true)
    throw invalid({ path: "maintenanceUntil", message: "maintenanceUntil: only with maintenance" });
  if (quarantined !== undefined) return quarantine(device, quarantined, quarantinedReason, at.now);
  if (maintenance === true) return beginMaintenance(device, maintenanceUntil, at.now);
  return maintenance === false ? endMaintenance(device, at) : {};
}

const refused = ({ status }: Known) => problem("INVALID_STATE", { details: { status } });

function quarantine(device: Known, on: boolean, reason: string | undefined, now: string): StatusChange {
  if (!on) {
    if (device.status !== "quarantined") throw refused(device);
    return { status: "offline", quarantinedAt: null, quarantinedReason: null };
  }
  if (reason === undefined)
    throw invalid({ path: "quarantinedReason", message: "quarantinedReason: say why it is quarantined" });
  if (device.status === "pending") throw refused(device);
  if (device.status === "quarantined") return { quarantinedReason: reason };
  return { status: "quarantined", quarantinedAt: now, quarantinedReason: reason, maintenanceUntil: null };
}

function beginMaintenance(device: Known, until: string | undefined, now: string): StatusChange {
  const end = until ?? after(now, LASTS_MS);
  if (end <= now || end > after(now, LASTS_MAX_MS))
    throw invalid({ path: "maintenanceUntil", message: "maintenanceUntil: must lie in the next 7 days" });
  if (device.status === "maintenance") return { maintenanceUntil: end };
  if (!["online", "offline", "updating"].includes(device.status)) throw refused(device);
  return { status: "maintenance", maintenanceUntil: end };
}

function endMaintenance(device: Known, { now, offlineAfterMinutes }: Now): StatusChange {
  if (device.status !== "maintenance") return {};
  const alive = (device.lastSeenAt ?? "") >= after(now, -offlineAfterMinutes * MINUTE);
  return { status: alive ? "online" : "offline", maintenanceUntil: null };
}
