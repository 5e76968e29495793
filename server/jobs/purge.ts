import { systemHandle, volatileHandle } from "#server/db/unit-of-work";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";

/** What is settled stays readable for a week: it explains what happened. */
const KEEP_MS = 7 * DAY;

/** Drops rows that no request can meet again: settled jobs and mails, ended limits and idempotency records. */
export async function purgePlatform(services: Services): Promise<void> {
  const db = systemHandle(services.store);
  const now = services.clock.now();
  const old = after(now, -KEEP_MS);
  await db.deleteFrom("idempotencyKeys").where("expiresAt", "<=", now).execute();
  await volatileHandle(services.store).deleteFrom("rateLimits").where("expiresAt", "<=", now).execute();
  // Limits that transactions take are kept with what they limit (`takeWithin`).
  await db.deleteFrom("rateLimits").where("expiresAt", "<=", now).execute();
  await db.deleteFrom("leases").where("expiresAt", "<=", old).execute();
  await db.deleteFrom("jobs").where("status", "in", ["done", "failed"]).where("updatedAt", "<=", old).execute();
  await db.deleteFrom("mailOutbox").where("status", "<>", "queued").where("createdAt", "<=", old).execute();
}
