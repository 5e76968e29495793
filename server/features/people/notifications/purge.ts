import { asSystem } from "#server/db/as-system";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";

const KEEP_MS = 90 * DAY;

export async function purgeNotifications(services: Services): Promise<void> {
  await asSystem(services, "purge expired")
    .deleteFrom("notifications")
    .where("createdAt", "<", after(services.clock.now(), -KEEP_MS))
    .execute();
}
