import { asSystem } from "#server/db/as-system";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";
import { eachDevice } from "./each-device.ts";

const KEPT_MS = 400 * DAY;

/**
 * Changes of availability are dropped after 400 days (docs/fleet.md, "Availability"), but for the last one before: it
 * says what held when the rest began. Of devices that left their organization nothing begins any more. Returns how many went.
 */
export async function dropAvailability(services: Services): Promise<number> {
  const db = asSystem(services, "purge expired");
  const before = after(services.clock.now(), -KEPT_MS);
  const left = db.deleteFrom("deviceAvailability").where("deviceId", "is", null).where("at", "<", before);
  let dropped = Number((await left.executeTakeFirst()).numDeletedRows);
  for await (const { id, orgId } of eachDevice(db)) {
    const last = await db
      .selectFrom("deviceAvailability")
      .select("id")
      .where("orgId", "=", orgId)
      .where("deviceId", "=", id)
      .where("at", "<", before)
      .orderBy("at", "desc")
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirst();
    if (!last) continue;
    const { numDeletedRows } = await db
      .deleteFrom("deviceAvailability")
      .where("orgId", "=", orgId)
      .where("deviceId", "=", id)
      .where("at", "<", before)
      .where("id", "<>", last.id)
      .executeTakeFirst();
    dropped += Number(numDeletedRows);
  }
  return dropped;
}
