import type { Endpoint } from "#contract/core/endpoint";
import type { agents } from "#contract/resources/fleet/agents";
import type { AgentPrincipal, KnownDevice } from "#server/access/principal";
import type { Tx } from "#server/db/unit-of-work";
import { leftMeanwhile } from "#server/features/fleet/devices/hold-device";
import { noteMainAgent } from "#server/features/fleet/devices/note-sign-of-life";
import { aliveStatus, appendAvailability, comesOnline } from "#server/features/fleet/devices/presence";
import { toldOfDevice } from "#server/features/fleet/devices/told-of-device";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { isDraining } from "./own-device.ts";
import { storeSample } from "./sample.ts";
import { noteSourceIp } from "./source-ip.ts";

export type HeartbeatCall = typeof agents.heartbeat extends Endpoint<infer T> ? Call<T> : never;

/** A status that changes on every attempt is a fault, not contention. */
const ATTEMPTS_MAX = 5;

/**
 * Records a heartbeat of the main agent (docs/fleet.md, "Heartbeat"): last seen, status, reported facts, one sample of
 * metrics. The status is a compare-and-swap on the one that was read, so a change by a sweep or an administrator at the
 * same moment is never overwritten.
 */
export async function recordMain(call: HeartbeatCall, tx: Tx, who: AgentPrincipal): Promise<void> {
  let known = who.device;
  for (let attempt = 1; !(await update(call, tx, { who, known })); attempt += 1) {
    if (attempt === ATTEMPTS_MAX) throw problem("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1 });
    known = await reread(tx, who);
  }
  const { metrics } = call.body;
  if (metrics !== undefined && !isDraining(who)) await storeSample(call, tx, who, metrics);
  await noteSourceIp(call, tx, who);
  await noteChange(call, tx, { who, known });
}

interface Seen {
  who: AgentPrincipal;
  known: KnownDevice;
}

/** False when the status is no longer the one that was read. */
function update(call: HeartbeatCall, tx: Tx, { who, known }: Seen): Promise<boolean> {
  return noteMainAgent(tx, who.deviceId, {
    from: known.status,
    ip: call.ip,
    report: isDraining(who) ? {} : facts(call.body),
    role: isDraining(who) || known.deviceRoleSource === "manual" ? undefined : call.body.deviceRole,
    now: call.clock.now(),
  });
}

/** Facts that were supplied; reports of a draining device leave them unchanged (docs/fleet.md, "Draining devices"). */
function facts(body: HeartbeatCall["body"]) {
  const { agentVersion, hostname, osVersion, osBuild, lastUser } = body;
  const { uptimeSeconds, pendingReboot, isHeadless, watchdogVersion } = body;
  const supplied = {
    agentVersion,
    hostname,
    osVersion,
    osBuild,
    lastUser,
    uptimeSeconds,
    pendingReboot,
    isHeadless,
    watchdogVersion,
  };
  return Object.fromEntries(Object.entries(supplied).filter(([, value]) => value !== undefined)) as {
    [Name in keyof typeof supplied]?: NonNullable<(typeof supplied)[Name]>;
  };
}

async function reread(tx: Tx, who: AgentPrincipal): Promise<KnownDevice> {
  const row = await tx
    .selectFrom("devices")
    .select(["status", "lastSeenAt", "lastSeenIp", "deviceRoleSource", "watchdogStatus"])
    .select(["mainAgentSilentSince", "tokensIssuedAt", "connectionId"])
    .where("id", "=", who.deviceId)
    .executeTakeFirst();
  if (!row) throw leftMeanwhile();
  if (row.status === "decommissioned") throw problem("DEVICE_DECOMMISSIONED", { toAgent: true });
  if (row.status === "quarantined") throw problem("DEVICE_QUARANTINED");
  return row;
}

/** Availability row, event and audit entry, all only when something changed. */
async function noteChange(call: HeartbeatCall, tx: Tx, { who, known }: Seen): Promise<void> {
  const status = aliveStatus[known.status];
  if (comesOnline(known.status)) {
    await appendAvailability(tx, call, "online", [{ id: who.deviceId, orgId: who.orgId }]);
    const { place, name } = await toldOfDevice(tx, who.deviceId);
    call.emit("device.online", { ...place, data: { ...name, previousStatus: known.status } });
  }
  const heard = known.mainAgentSilentSince !== null;
  if (status === known.status && !heard) return;
  call.audit.also({
    action: "agent.heartbeat.state_change",
    resource: { type: "device", id: who.deviceId, name: who.hostname },
    details: {
      ...(status === known.status ? {} : { from: known.status, to: status }),
      ...(heard ? { mainAgentSilentSince: { from: known.mainAgentSilentSince, to: null } } : {}),
    },
  });
}
