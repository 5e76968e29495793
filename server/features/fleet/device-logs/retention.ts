import type { Kysely } from "kysely";
import { asSystem } from "#server/db/as-system";
import type { Database } from "#server/db/tables";
import { after, DAY } from "#server/platform/clock";
import { firstIdAt } from "#server/platform/random";
import type { Services } from "#server/services";
import { eventLogSettings } from "./settings.ts";

const BATCH = 2_000;

type LogTable = "deviceLogs" | "deviceEventLogs";

/**
 * Drops what was stored longer ago than is kept: by our clock, since a device's neither keeps nor purges
 * (docs/device-logs.md, "Retention"). Returns how many went.
 */
export async function dropOldLogs(services: Services): Promise<number> {
  const db = asSystem(services, "purge expired");
  const now = services.clock.now();
  let dropped = 0;
  for await (const orgId of organizationsIn(db, "deviceLogs"))
    dropped += await dropBefore(db, "deviceLogs", {
      orgId,
      before: after(now, -services.config.agentLogRetentionDays * DAY),
    });
  for await (const orgId of organizationsIn(db, "deviceEventLogs")) {
    const { retentionDays } = await eventLogSettings(db, orgId);
    dropped += await dropBefore(db, "deviceEventLogs", { orgId, before: after(now, -retentionDays * DAY) });
  }
  return dropped;
}

/** One look into the primary key for each. */
async function* organizationsIn(db: Kysely<Database>, table: LogTable): AsyncGenerator<string> {
  const first = db
    .selectFrom(table as "deviceLogs")
    .select("orgId")
    .orderBy("orgId")
    .limit(1);
  for (let found = await first.executeTakeFirst(); found !== undefined; ) {
    yield found.orgId;
    found = await first.where("orgId", ">", found.orgId).executeTakeFirst();
  }
}

/** Small statements: whoever writes meanwhile does not wait for long. */
async function dropBefore(db: Kysely<Database>, table: LogTable, { orgId, before }: { orgId: string; before: string }) {
  const name = table as "deviceLogs";
  const end = firstIdAt(Date.parse(before));
  for (let dropped = 0; ; ) {
    const old = db
      .selectFrom(name)
      .select("id")
      .where("orgId", "=", orgId)
      .where("id", "<", end)
      .orderBy("id")
      .limit(BATCH);
    const { numDeletedRows } = await db
      .deleteFrom(name)
      .where("orgId", "=", orgId)
      .where("id", "in", old)
      .executeTakeFirst();
    dropped += Number(numDeletedRows);
    if (Number(numDeletedRows) < BATCH) return dropped;
  }
}
