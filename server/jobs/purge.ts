import { asSystem } from "#server/db/as-system";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";

/** What is settled stays readable for a week: it explains what happened. */
const KEEP_MS = 7 * DAY;

/** Drops rows that no request can meet again: settled jobs and mails, leases and limits that ended. */
export async function purgePlatform(services: Services): Promise<void> {
  const db = asSystem(services, "purge expired");
  const old = after(services.clock.now(), -KEEP_MS);
  await services.limiter.purge(services.log);
  await db.deleteFrom("leases").where("expiresAt", "<=", old).execute();
  await db.deleteFrom("jobs").where("status", "in", ["done", "failed"]).where("updatedAt", "<=", old).execute();
  await db.deleteFrom("mailOutbox").where("status", "<>", "queued").where("createdAt", "<=", old).execute();
}
