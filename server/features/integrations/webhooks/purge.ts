import { asSystem } from "#server/db/as-system";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";

const KEEP_MS = 30 * DAY;

/** Rows of one statement: who sends waits for no longer. */
const STEP = 1_000;

/** Deliveries older than 30 days go, webhook by webhook, as their index has them. */
export async function purgeDeliveries(services: Services, step = STEP): Promise<void> {
  const db = asSystem(services, "purge expired");
  const old = after(services.clock.now(), -KEEP_MS);
  for (const { id } of await db.selectFrom("webhooks").select("id").execute()) {
    const expired = db
      .selectFrom("webhookDeliveries")
      .select("id")
      .where("webhookId", "=", id)
      .where("createdAt", "<=", old)
      .orderBy("createdAt")
      .limit(step);
    for (let gone = step; gone === step; ) {
      const dropped = await db.deleteFrom("webhookDeliveries").where("id", "in", expired).executeTakeFirst();
      gone = Number(dropped.numDeletedRows);
    }
  }
}
