import type { AgentPrincipal } from "#server/access/principal";
import type { Tx } from "#server/db/unit-of-work";
import { actions, countInHour, sumsOf } from "#server/features/fleet/hourly-entries/count-in-hour";
import type { Call } from "#server/http/call";

export interface Submitted {
  readonly kind: "logs" | "eventlogs";
  readonly entries: number;
  readonly filtered: number;
}

/**
 * The first submission of a device's hour is audited at once, the others as one entry with their sums when the hour is
 * over (docs/device-logs.md, "Audit"). Under the lock of the device's row.
 */
export async function noteSubmission(call: Call, tx: Tx, who: AgentPrincipal, submitted: Submitted): Promise<void> {
  const { kind, entries, filtered } = submitted;
  const { orgId, deviceId, hostname } = who;
  const hour = await countInHour(tx, { orgId, deviceId, kind }, { now: call.clock.now(), entries, filtered });
  if (hour === "counted") return call.audit.skip();
  const resource = { type: "device", id: deviceId, name: hostname };
  call.audit.note({ resource, details: { count: entries, filtered } });
  if (hour.before) call.audit.also({ action: actions[kind], resource, details: sumsOf(hour.before) });
}
