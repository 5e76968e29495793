import type { Selectable, Updateable } from "kysely";
import type { DevicesTable } from "#server/db/tables/fleet";
import type { Tx } from "#server/db/unit-of-work";
import { aliveStatus } from "./presence.ts";

/** What the main agent reports of its device; what it leaves out stays. */
type MainReport = Pick<
  Updateable<DevicesTable>,
  | "agentVersion"
  | "hostname"
  | "osVersion"
  | "osBuild"
  | "lastUser"
  | "uptimeSeconds"
  | "pendingReboot"
  | "isHeadless"
  | "watchdogVersion"
>;

interface MainSign {
  /** What was read: a sweep, an administrator or another report that changes it meanwhile is never overwritten. */
  known: Pick<Selectable<DevicesTable>, "status" | "hostname" | "deviceRole">;
  ip: string | null;
  report: MainReport;
  /** Set where the agent may say it: nobody has chosen a role by hand. */
  role: DevicesTable["deviceRole"] | undefined;
  now: string;
}

/** The main agent is alive. False when the status, or what the report changes, is no longer what was read. */
export async function noteMainAgent(
  tx: Tx,
  deviceId: string,
  { known, ip, report, role, now }: MainSign,
): Promise<boolean> {
  let query = tx
    .updateTable("devices")
    .set({
      lastSeenAt: now,
      ...(ip === null ? {} : { lastSeenIp: ip }),
      status: aliveStatus[known.status],
      mainAgentSilentSince: null,
      ...report,
      ...(role === undefined ? {} : { deviceRole: role }),
      updatedAt: now,
    })
    .where("id", "=", deviceId)
    .where("status", "=", known.status);
  if (report.hostname !== undefined) query = query.where("hostname", "=", known.hostname);
  if (role !== undefined)
    query = query.where("deviceRoleSource", "=", "auto").where("deviceRole", "=", known.deviceRole);
  return (await query.executeTakeFirst()).numUpdatedRows === 1n;
}

interface WatchdogSign {
  status: "connected" | "failover";
  version: string | undefined;
  ip: string | null;
  now: string;
}

/** The watchdog is alive, which says nothing of the main agent. False when the device is not there any more. */
export async function noteWatchdog(
  tx: Tx,
  deviceId: string,
  { status, version, ip, now }: WatchdogSign,
): Promise<boolean> {
  const noted = await tx
    .updateTable("devices")
    .set({
      watchdogStatus: status,
      watchdogSeenAt: now,
      ...(ip === null ? {} : { lastSeenIp: ip }),
      ...(version === undefined ? {} : { watchdogVersion: version }),
      updatedAt: now,
    })
    .where("id", "=", deviceId)
    .executeTakeFirst();
  return noted.numUpdatedRows === 1n;
}

/**
 * Keeps when it was first noticed that the main agent is silent: set once, and not at all when it has reported since
 * `lastHeardBefore`.
 */
export async function markMainAgentSilent(
  tx: Tx,
  deviceId: string,
  { now, lastHeardBefore }: { now: string; lastHeardBefore: string },
): Promise<boolean> {
  const marked = await tx
    .updateTable("devices")
    .set({ mainAgentSilentSince: now })
    .where("id", "=", deviceId)
    .where("mainAgentSilentSince", "is", null)
    .where("lastSeenAt", "<", lastHeardBefore)
    .executeTakeFirst();
  return marked.numUpdatedRows === 1n;
}
