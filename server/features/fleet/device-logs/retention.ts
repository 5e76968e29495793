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
  const before = (days: number) => after(now, -days * DAY);
  for await (const orgId of organizationsIn(db, "deviceLogs"))
    dropped += await dropLogs(db, { orgId, before: before(services.config.agentLogRetentionDays) });
  for await (const orgId of organizationsIn(db, "deviceEventLogs")) {
    const { retentionDays } = await eventLogSettings(db, orgId);
    dropped += await dropEvents(db, { orgId, before: before(retentionDays) });
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

interface Old {
  readonly orgId: string;
  readonly before: string;
}

/** Small statements: whoever writes meanwhile does not wait for long. */
async function inBatches(remove: () => Promise<{ numDeletedRows: bigint }>): Promise<number> {
  for (let dropped = 0; ; ) {
    const count = Number((await remove()).numDeletedRows);
    dropped += count;
    if (count < BATCH) return dropped;
  }
}

const idsOf = (db: Kysely<Database>, table: LogTable, { orgId, before }: Old) =>
  db
    .selectFrom(table as "deviceLogs")
    .select("id")
    .where("orgId", "=", orgId)
    .where("id", "<", firstIdAt(Date.parse(before)))
    .orderBy("id")
    .limit(BATCH);

const dropLogs = (db: Kysely<Database>, old: Old) =>
  inBatches(() =>
    db
      .deleteFrom("deviceLogs")
      .where("orgId", "=", old.orgId)
      .where("id", "in", idsOf(db, "deviceLogs", old))
      .executeTakeFirstOrThrow(),
  );

const dropEvents = (db: Kysely<Database>, old: Old) =>
  inBatches(() =>
    db
      .deleteFrom("deviceEventLogs")
      .where("orgId", "=", old.orgId)
      .where("id", "in", idsOf(db, "deviceEventLogs", old))
      .executeTakeFirstOrThrow(),
  );
