import { asSystem } from "#server/db/as-system";
import { numberingStandsStill } from "#server/events/waiting";
import { after, MINUTE } from "#server/platform/clock";
import type { Services } from "#server/services";

const OVERDUE_MS = 5 * MINUTE;
const LEADERLESS_MS = MINUTE;

/**
 * Judged by what every process sees: no job is overdue, no audit entry or event waits for longer, and the lease of the schedules
 * has not run out without a successor. Between two holders there is briefly none, which is not a fault.
 */
export async function idleWorkers(services: Services): Promise<string[]> {
  const db = asSystem(services, "report health");
  const { clock } = services;
  const overdue = await db
    .selectFrom("jobs")
    .select("id")
    .where("status", "=", "queued")
    .where("runAt", "<", after(clock.now(), -OVERDUE_MS))
    .limit(1)
    .executeTakeFirst();
  const leaderless = await db
    .selectFrom("leases")
    .select("name")
    .where("name", "=", "scheduler")
    .where("expiresAt", "<", after(clock.now(), -LEADERLESS_MS))
    .executeTakeFirst();
  const unmoved = await db
    .selectFrom("auditOutbox")
    .select("id")
    .where("createdAt", "<", after(clock.now(), -OVERDUE_MS))
    .limit(1)
    .executeTakeFirst();
  return [
    ...(overdue ? ["jobs lie due for more than 5 minutes"] : []),
    ...(leaderless ? ["no process leads the schedules"] : []),
    ...((await numberingStandsStill(services, OVERDUE_MS))
      ? ["events wait for more than 5 minutes: nobody numbers them"]
      : []),
    ...(unmoved ? ["audit entries wait for more than 5 minutes: their writer stands still"] : []),
  ];
}
