import { asSystem } from "#server/db/as-system";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";
import { NUMBERING } from "./cursors.ts";

const KEEP_MS = 7 * DAY;
/** Longer than servers of two versions run beside each other: a consumer that only the other one knows gets its events. */
const KEEP_FOR_OTHERS_MS = 2 * KEEP_MS;
const STEP = 1_000;

/**
 * Drops events that every consumer has passed and that are older than a week. One that this version does not know holds
 * them a second week; then its cursor goes with them. Answers how many.
 */
export async function purgeEvents(services: Services): Promise<number> {
  const known = [NUMBERING, ...services.eventConsumers];
  const dropped = await dropPassed(services, { olderThanMs: KEEP_MS });
  const more = await dropPassed(services, { olderThanMs: KEEP_FOR_OTHERS_MS, by: known });
  if (more > 0) await forgetCursors(services, known);
  if (dropped + more > 0) await forgetSetAside(services);
  return dropped + more;
}

/** What these consumers have passed, or all of them. */
async function dropPassed(
  services: Services,
  { olderThanMs, by }: { olderThanMs: number; by?: readonly string[] },
): Promise<number> {
  const db = asSystem(services, "purge expired");
  const old = after(services.clock.now(), -olderThanMs);
  for (let dropped = 0; ; ) {
    const cursors = db.selectFrom("eventCursors").select((eb) => eb.fn.min("position").as("position"));
    const passed = await (by ? cursors.where("consumer", "in", by) : cursors).executeTakeFirstOrThrow();
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

/** Of consumers that nobody runs any more, or that begin anew when they come back: at the end. */
async function forgetCursors(services: Services, known: readonly string[]): Promise<void> {
  const db = asSystem(services, "purge expired");
  const { position: start } = await db
    .selectFrom("events")
    .select((eb) => eb.fn.min("position").as("position"))
    .executeTakeFirstOrThrow();
  const end = db.selectFrom("eventCursors").select("position");
  const { position: last } = await end.where("consumer", "=", NUMBERING).executeTakeFirstOrThrow();
  const forgotten = await db
    .deleteFrom("eventCursors")
    .where("consumer", "not in", known)
    .where("position", "<", start === null ? last : start - 1)
    .returning("consumer")
    .execute();
  for (const { consumer } of forgotten) services.log.warn("event.consumer_forgotten", { consumer });
}

/** What cannot be handed out again, because the event is gone. */
async function forgetSetAside(services: Services): Promise<void> {
  const db = asSystem(services, "purge expired");
  await db.deleteFrom("setAsideEvents").where("eventId", "not in", db.selectFrom("events").select("id")).execute();
}
