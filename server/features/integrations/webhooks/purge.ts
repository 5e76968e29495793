import { asSystem } from "#server/db/as-system";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";

const KEEP_MS = 30 * DAY;

/** Deliveries older than 30 days go, webhook by webhook, as their index has them. */
export async function purgeDeliveries(services: Services): Promise<void> {
  const db = asSystem(services, "purge expired");
  const old = after(services.clock.now(), -KEEP_MS);
  for (const { id } of await db.selectFrom("webhooks").select("id").execute())
    await db.deleteFrom("webhookDeliveries").where("webhookId", "=", id).where("createdAt", "<=", old).execute();
}
