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
import { tellIdentity } from "./identity-change.ts";
import { noteStateChange } from "./note-state-change.ts";
import { isDraining } from "./own-device.ts";
import { storeSample } from "./sample.ts";
import { noteSourceIp } from "./source-ip.ts";

export type HeartbeatCall = typeof agents.heartbeat extends Endpoint<infer T> ? Call<T> : never;

/** What changes on every attempt is a fault, not contention. */
const ATTEMPTS_MAX = 5;

/**
 * Records a heartbeat of the main agent (docs/fleet.md, "Heartbeat"): last seen, status, reported facts, one sample of
 * metrics. Status, hostname and role are compare-and-swaps on what was read, so a change by a sweep, an administrator or
 * another report at the same moment is neither overwritten nor told twice.
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
  await tellIdentity(call, tx, who, identityChange(reported(call, { who, known }), known));
}

interface Seen {
  who: AgentPrincipal;
  known: KnownDevice;
}

/** False when it is no longer what was read. */
function update(call: HeartbeatCall, tx: Tx, seen: Seen): Promise<boolean> {
  const { ip, clock } = call;
  return noteMainAgent(tx, seen.who.deviceId, { known: seen.known, ip, ...reported(call, seen), now: clock.now() });
}

/** What is taken of the report. A role that was chosen by hand stays. */
const reported = ({ body }: HeartbeatCall, { who, known }: Seen) => ({
  report: isDraining(who) ? {} : facts(body),
  role: isDraining(who) || known.deviceRoleSource === "manual" ? undefined : body.deviceRole,
});

function identityChange({ report: { hostname }, role }: ReturnType<typeof reported>, known: KnownDevice) {
  return {
    ...(hostname === undefined || hostname === known.hostname
      ? {}
      : { hostname: { from: known.hostname, to: hostname } }),
    ...(role === undefined || role === known.deviceRole ? {} : { deviceRole: { from: known.deviceRole, to: role } }),
  };
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
    .select(["status", "lastSeenAt", "lastSeenIp", "hostname", "deviceRole", "deviceRoleSource", "watchdogStatus"])
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
  await noteStateChange(call, tx, who, {
    ...(status === known.status ? {} : { from: known.status, to: status }),
    ...(heard ? { mainAgentSilentSince: { from: known.mainAgentSilentSince, to: null } } : {}),
  });
}
