import type { Selectable } from "kysely";
import { commitLazily } from "#server/db/dialect/lazy-commit";
import type { EventCursorsTable } from "#server/db/tables/platform";
import { type Tx, UnitOfWork } from "#server/db/unit-of-work";
import { after, MINUTE, SECOND } from "#server/platform/clock";
import type { Services } from "#server/services";
import type { Consumer, StoredEvent } from "./consumer.ts";
import { holdCursor } from "./cursors.ts";

export const HANDED_MAX = 200;
/** Failures after which an event is set aside: about six minutes after the first. */
export const ATTEMPTS_MAX = 10;
const BACKOFF_MAX_MS = 2 * MINUTE;

/** The columns of a `StoredEvent`. */
export const HANDED = [
  "id",
  "kind",
  "orgId",
  "partnerId",
  "siteId",
  "subjectType",
  "subjectId",
  "data",
  "occurredAt",
  "position",
] as const;

type Cursor = Selectable<EventCursorsTable>;

/** `failed` counts the events that were handed out together. */
type Outcome = { readonly moved: number } | { readonly failed: number };

/**
 * Hands the consumer what comes after its cursor and moves it, in one transaction. After a failure events are handed out
 * one by one, so that the one it fails at is known.
 */
export async function handOut(services: Services, consumer: Consumer, limit = HANDED_MAX): Promise<Outcome> {
  let handed: { cursor: Cursor; events: readonly StoredEvent[] } | undefined;
  try {
    return await inTransaction(services, async (tx) => {
      const cursor = await holdCursor(services, tx, consumer.name);
      if (!cursor || (cursor.retryAt !== null && cursor.retryAt > services.clock.now())) return { moved: 0 };
      const events = await following(tx, cursor, limit);
      const last = events.at(-1);
      if (!last) return { moved: 0 };
      handed = { cursor, events };
      const wrote = await consumer.handle(services, tx, events);
      if (!wrote) await commitLazily(tx, services.store.dialect);
      await tx
        .updateTable("eventCursors")
        .set({ position: last.position, attempts: 0, retryAt: null })
        .where("consumer", "=", consumer.name)
        .execute();
      return { moved: events.length };
    });
  } catch (error) {
    if (!handed) throw error;
    const { cursor, events } = handed;
    const [event] = events;
    const passed = events.length === 1 && event && (await recordFailure(services, cursor, event, error as Error));
    return passed ? { moved: 1 } : { failed: events.length };
  }
}

export const inTransaction = <R>(services: Services, work: (tx: Tx) => Promise<R>) =>
  new UnitOfWork(services, { kind: "none" }).asSystem("hand out events", work);

async function following(tx: Tx, { position, attempts }: Cursor, limit: number): Promise<StoredEvent[]> {
  const rows = await tx
    .selectFrom("events")
    .select(HANDED)
    .where("position", ">", position)
    .orderBy("position")
    .limit(attempts > 0 ? 1 : limit)
    .execute();
  return rows as unknown as StoredEvent[];
}

/**
 * Waits longer after each failure, then goes on without the event: one alone must not hold up all that follow. True when
 * it was given up.
 */
async function recordFailure(services: Services, cursor: Cursor, event: StoredEvent, error: Error): Promise<boolean> {
  const { consumer, position, attempts } = cursor;
  const failures = attempts + 1;
  const givenUp = failures >= ATTEMPTS_MAX;
  const wait = Math.min(BACKOFF_MAX_MS, SECOND * 2 ** attempts);
  const change = givenUp
    ? { position: event.position, attempts: 0, retryAt: null, setAside: cursor.setAside + 1 }
    : { attempts: failures, retryAt: after(services.clock.now(), wait) };
  const isRecorded = await inTransaction(services, async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable("eventCursors")
      .set(change)
      .where("consumer", "=", consumer)
      .where("position", "=", position)
      .where("attempts", "=", attempts)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 1n && givenUp)
      await tx
        .insertInto("setAsideEvents")
        .values({ consumer, eventId: event.id, setAsideAt: services.clock.now() })
        .execute();
    return numUpdatedRows === 1n;
  });
  if (!isRecorded) return false;
  const about = { consumer, eventId: event.id, kind: event.kind, attempts: failures, error };
  if (givenUp) services.log.error("event.set_aside", about);
  else services.log.warn("event.failed", about);
  return givenUp;
}
