import { asSystem } from "#server/db/as-system";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";

const KEEP_MS = 7 * DAY;
const STEP = 1_000;

/** Drops events that every consumer has passed and that are older than a week. Answers how many. */
export async function purgeEvents(services: Services): Promise<number> {
  const db = asSystem(services, "purge expired");
  const old = after(services.clock.now(), -KEEP_MS);
  for (let dropped = 0; ; ) {
    const passed = await db
      .selectFrom("eventCursors")
      .select((eb) => eb.fn.min("position").as("position"))
      .executeTakeFirstOrThrow();
    const rows = await db
      .selectFrom("events")
      .select(["position", "occurredAt"])
      .where("position", "<=", passed.position)
      .orderBy("position")
      .limit(STEP)
      .execute();
    const last = rows.findLast(({ occurredAt }) => occurredAt <= old)?.position;
    if (last === undefined || last === null) return dropped;
    const gone = await db
      .deleteFrom("events")
      .where("position", "<=", last)
      .where("occurredAt", "<=", old)
      .executeTakeFirst();
    dropped += Number(gone.numDeletedRows);
    if (rows.length < STEP) return dropped;
  }
}
