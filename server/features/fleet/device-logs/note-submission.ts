import type { AgentPrincipal } from "#server/access/principal";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { after, HOUR } from "#server/platform/clock";

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
  const now = call.clock.now();
  const mine = { orgId: who.orgId, deviceId: who.deviceId, kind };
  const counted = await tx
    .updateTable("deviceLogHours")
    .set((eb) => ({
      requests: eb("requests", "+", 1),
      entries: eb("entries", "+", entries),
      filtered: eb("filtered", "+", filtered),
    }))
    .where("orgId", "=", mine.orgId)
    .where("deviceId", "=", mine.deviceId)
    .where("kind", "=", kind)
    .where("startedAt", ">", after(now, -HOUR))
    .executeTakeFirst();
  if (counted.numUpdatedRows > 0n) return call.audit.skip();
  const resource = { type: "device", id: who.deviceId, name: who.hostname };
  const before = await tx
    .deleteFrom("deviceLogHours")
    .where("orgId", "=", mine.orgId)
    .where("deviceId", "=", mine.deviceId)
    .where("kind", "=", kind)
    .returning(["startedAt", "requests", "entries", "filtered"])
    .executeTakeFirst();
  await tx
    .insertInto("deviceLogHours")
    .values({ ...mine, startedAt: now, requests: 0, entries: 0, filtered: 0 })
    .execute();
  call.audit.note({ resource, details: { count: entries, filtered } });
  if (before && before.requests > 0) call.audit.also({ action: actions[kind], resource, details: sumsOf(before) });
}

export const actions = { logs: "agent.logs.submit", eventlogs: "agent.eventlogs.submit" } as const;

interface Hour {
  readonly startedAt: string;
  readonly requests: number;
  readonly entries: number;
  readonly filtered: number;
}

export const sumsOf = ({ startedAt, requests, entries, filtered }: Hour) => ({
  ...{ since: startedAt, requests, count: entries, filtered },
});
