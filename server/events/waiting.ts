import { asSystem } from "#server/db/as-system";
import { after } from "#server/platform/clock";
import type { Services } from "#server/services";
import { NUMBERING } from "./cursors.ts";

/** True where an event has been waiting for its position for longer: no process numbers any. */
export async function numberingStandsStill(services: Services, patienceMs: number): Promise<boolean> {
  const oldest = await asSystem(services, "report health")
    .selectFrom("events")
    .select("occurredAt")
    .where("position", "is", null)
    .orderBy("seq")
    .limit(1)
    .executeTakeFirst();
  return oldest !== undefined && oldest.occurredAt < after(services.clock.now(), -patienceMs);
}

/** Sets the gauges of how many events each consumer has not been told of, and could not take. */
export async function countWaitingEvents(services: Services): Promise<void> {
  const db = asSystem(services, "report health");
  const { waitingEvents, setAsideEvents } = services.metrics;
  const unnumbered = await db
    .selectFrom("events")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("position", "is", null)
    .executeTakeFirstOrThrow();
  const cursors = await db.selectFrom("eventCursors").select(["consumer", "position", "setAside"]).execute();
  const end = cursors.find(({ consumer }) => consumer === NUMBERING)?.position ?? 0;
  waitingEvents.reset();
  setAsideEvents.reset();
  for (const { consumer, position, setAside } of cursors) {
    waitingEvents.set({ consumer }, end - position + Number(unnumbered.count));
    if (consumer !== NUMBERING) setAsideEvents.set({ consumer }, setAside);
  }
}
