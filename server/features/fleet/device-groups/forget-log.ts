import { asSystem } from "#server/db/as-system";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";

const KEPT_MS = 90 * DAY;
const BATCH = 1_000;

/** Entries of the membership log are kept 90 days (docs/device-groups.md, "Membership log"). Returns how many went. */
export async function forgetLog(services: Services): Promise<number> {
  const db = asSystem(services, "purge expired");
  const before = after(services.clock.now(), -KEPT_MS);
  for (let dropped = 0; ; ) {
    const old = db.selectFrom("deviceGroupLog").select("id").where("createdAt", "<", before).limit(BATCH);
    const { numDeletedRows } = await db.deleteFrom("deviceGroupLog").where("id", "in", old).executeTakeFirst();
    dropped += Number(numDeletedRows);
    if (Number(numDeletedRows) < BATCH) return dropped;
  }
}
