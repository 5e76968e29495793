import { asSystem } from "#server/db/as-system";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";

/** How far back an incremental walk may begin (docs/credentials.md, "Exports"). */
export const REMOVALS_KEPT_MS = 30 * DAY;

/** A walk lasts a day at most, and then a little. */
const SLACK_MS = 2 * DAY;

/** Drops removals that no walk can ask for any more. */
export async function forgetRemovals(services: Services): Promise<number> {
  const gone = await asSystem(services, "purge expired")
    .deleteFrom("exportRemovals")
    .where("removedAt", "<", after(services.clock.now(), -REMOVALS_KEPT_MS - SLACK_MS))
    .executeTakeFirst();
  return Number(gone.numDeletedRows);
}
