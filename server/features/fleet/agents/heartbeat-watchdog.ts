import type { AgentPrincipal } from "#server/access/principal";
import type { Tx } from "#server/db/unit-of-work";
import { leftMeanwhile } from "#server/features/fleet/devices/hold-device";
import { markMainAgentSilent, noteWatchdog } from "#server/features/fleet/devices/note-sign-of-life";
import { toldOfDevice } from "#server/features/fleet/devices/told-of-device";
import { after, MINUTE } from "#server/platform/clock";
import type { HeartbeatCall } from "./heartbeat-main.ts";
import { noteStateChange } from "./note-state-change.ts";
import { isDraining } from "./own-device.ts";
import { noteSourceIp } from "./source-ip.ts";

const SILENT_AFTER_MS = 15 * MINUTE;

/**
 * Records a heartbeat of the watchdog (docs/fleet.md, "Watchdog"). It does not count as a sign of life of the main
 * agent; if that is silent for more than 15 minutes, the time at which this was first noticed is kept until the main
 * agent reports again.
 */
export async function recordWatchdog(call: HeartbeatCall, tx: Tx, who: AgentPrincipal): Promise<void> {
  const now = call.clock.now();
  const status = call.body.watchdogState === "FAILOVER" ? "failover" : "connected";
  const { watchdogVersion } = call.body;
  const version = isDraining(who) ? undefined : watchdogVersion;
  if (!(await noteWatchdog(tx, who.deviceId, { status, version, ip: call.ip, now }))) throw leftMeanwhile();
  const lastHeardBefore = after(now, -SILENT_AFTER_MS);
  const silent = isSilent(who, now) && (await markMainAgentSilent(tx, who.deviceId, { now, lastHeardBefore }));
  if (silent) {
    const { place, name } = await toldOfDevice(tx, who.deviceId);
    call.emit("device.main_agent_silent", { ...place, data: { ...name, lastSeenAt: who.device.lastSeenAt } });
  }
  await noteSourceIp(call, tx, who);
  if (status === who.device.watchdogStatus && !silent) return;
  await noteStateChange(call, tx, who, {
    ...(status === who.device.watchdogStatus ? {} : { watchdog: { from: who.device.watchdogStatus, to: status } }),
    ...(silent ? { mainAgentSilentSince: { from: null, to: now } } : {}),
  });
}

const isSilent = ({ device }: AgentPrincipal, now: string): boolean =>
  device.mainAgentSilentSince === null && (device.lastSeenAt ?? now) < after(now, -SILENT_AFTER_MS);
