import type { AgentPrincipal } from "#server/access/principal";
import type { Tx } from "#server/db/unit-of-work";
import { actions, countInHour, sumsOf } from "#server/features/fleet/hourly-entries/count-in-hour";
import type { Call } from "#server/http/call";

const KIND = "state_change";

/**
 * The first change of a device's hour is audited at once, the others as one entry with their number when the hour is
 * over: an agent that changes its mind with every heartbeat does not fill the log of its organization (docs/fleet.md,
 * "Heartbeat"). Under the lock of the device's row.
 */
export async function noteStateChange(call: Call, tx: Tx, who: AgentPrincipal, details: Record<string, unknown>) {
  const { orgId, deviceId, hostname } = who;
  const counted = { now: call.clock.now(), entries: 1, filtered: 0 };
  const hour = await countInHour(tx, { orgId, deviceId, kind: KIND }, counted);
  if (hour === "counted") return;
  const entry = { action: actions[KIND], resource: { type: "device", id: deviceId, name: hostname } };
  if (hour.before) call.audit.also({ ...entry, details: sumsOf(hour.before) });
  call.audit.also({ ...entry, details });
}
