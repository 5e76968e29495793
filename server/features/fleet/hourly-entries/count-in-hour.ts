import type { Tx } from "#server/db/unit-of-work";
import { after, HOUR } from "#server/platform/clock";

/** What of a device is recorded once an hour. */
export const actions = {
  logs: "agent.logs.submit",
  eventlogs: "agent.eventlogs.submit",
  state_change: "agent.heartbeat.state_change",
} as const;

export interface HourOf {
  readonly orgId: string;
  readonly deviceId: string;
  readonly kind: keyof typeof actions;
}

interface Hour {
  readonly startedAt: string;
  readonly requests: number;
  readonly entries: number;
  readonly filtered: number;
}

/**
 * Counts a report in the hour that the first of its kind began (docs/device-logs.md, "Audit"). "counted": it leaves no
 * entry of its own. Else it begins an hour, and answers what the one before held, if anything. Under the lock of the
 * device's row.
 */
export async function countInHour(
  tx: Tx,
  { orgId, deviceId, kind }: HourOf,
  { now, entries, filtered }: { now: string; entries: number; filtered: number },
): Promise<"counted" | { before: Hour | undefined }> {
  const counted = await tx
    .updateTable("deviceLogHours")
    .set((eb) => ({
      requests: eb("requests", "+", 1),
      entries: eb("entries", "+", entries),
      filtered: eb("filtered", "+", filtered),
    }))
    .where("orgId", "=", orgId)
    .where("deviceId", "=", deviceId)
    .where("kind", "=", kind)
    .where("startedAt", ">", after(now, -HOUR))
    .executeTakeFirst();
  if (counted.numUpdatedRows > 0n) return "counted";
  const before = await tx
    .deleteFrom("deviceLogHours")
    .where("orgId", "=", orgId)
    .where("deviceId", "=", deviceId)
    .where("kind", "=", kind)
    .returning(["startedAt", "requests", "entries", "filtered"])
    .executeTakeFirst();
  await tx
    .insertInto("deviceLogHours")
    .values({ orgId, deviceId, kind, startedAt: now, requests: 0, entries: 0, filtered: 0 })
    .execute();
  return { before: before && before.requests > 0 ? before : undefined };
}

export const sumsOf = ({ startedAt, requests, entries, filtered }: Hour) => ({
  ...{ since: startedAt, requests, count: entries, filtered },
});
