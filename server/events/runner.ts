import { setImmediate } from "node:timers/promises";
import { asSystem } from "#server/db/as-system";
import { MINUTE } from "#server/platform/clock";
import { interruptibleSleep } from "#server/platform/sleep";
import type { Services } from "#server/services";
import type { Consumer } from "./consumer.ts";
import { NUMBERING } from "./cursors.ts";
import { HANDED_MAX, handOut } from "./hand-out.ts";
import { NUMBERED_MAX, numberEvents } from "./numbering.ts";

const POLL_MS = 500;
/** After a wake: what commits meanwhile shares the step. */
const GATHER_MS = 20;
const GATHER_MAX_MS = 500;
const BACKOFF_MAX_MS = MINUTE;

/** How long events gather after a step that took so long: it waits for the disk, as the changes beside it do. */
export const gatherMs = (tookMs: number): number => Math.min(GATHER_MAX_MS, Math.max(GATHER_MS, 10 * tookMs));

export interface EventRunner {
  /** Some events were committed. */
  wake(): void;
  /** Ends after the batches in hand. */
  stop(): Promise<void>;
}

/** Numbers events and hands them out until stopped. Any number of processes may; consumers do not wait for each other. */
export function startEvents(services: Services, consumers: readonly Consumer[]): EventRunner {
  const sleeper = interruptibleSleep();
  const busy = new Map<string, Promise<void>>();
  let stopping = false;
  let registered = false;
  /** When events are numbered again at the earliest. */
  let againMs = 0;
  const done = loop();
  return {
    wake: sleeper.wake,
    async stop() {
      stopping = true;
      sleeper.interrupt();
      await done;
      await Promise.all(busy.values());
    },
  };

  async function loop(): Promise<void> {
    for (let failures = 0; !stopping; ) {
      try {
        const more = await round();
        failures = 0;
        if (!more && !stopping) await sleeper.sleep(POLL_MS, true);
        if (!more && !stopping) await sleeper.sleep(Math.max(GATHER_MS, againMs - performance.now()), false);
      } catch (error) {
        failures += 1;
        services.log.warn("events.unavailable", { error: error as Error });
        if (!stopping) await sleeper.sleep(Math.min(BACKOFF_MAX_MS, POLL_MS * 2 ** Math.min(failures, 10)), false);
      }
    }
  }

  /** True when there is more to number. */
  async function round(): Promise<boolean> {
    if (!registered) await registerConsumers(services, consumers);
    registered = true;
    const beganMs = performance.now();
    const numbered = await numberEvents(services);
    const endedMs = performance.now();
    againMs = endedMs + gatherMs(endedMs - beganMs);
    for (const name of await behind(services)) {
      const consumer = consumers.find((one) => one.name === name);
      if (!consumer || busy.has(name)) continue;
      const work = drain(consumer).finally(() => busy.delete(name));
      busy.set(name, work);
    }
    await setImmediate();
    return numbered === NUMBERED_MAX;
  }

  async function drain(consumer: Consumer): Promise<void> {
    try {
      await handAll(services, consumer, () => stopping);
    } catch (error) {
      services.log.warn("events.unavailable", { consumer: consumer.name, error: error as Error });
    }
  }
}

/** Hands out all that is numbered, or until the consumer fails. */
export async function handAll(services: Services, consumer: Consumer, stopping = () => false): Promise<void> {
  let oneByOne = 0;
  while (!stopping()) {
    const outcome = await handOut(services, consumer, oneByOne > 0 ? 1 : HANDED_MAX);
    // SQLite answers without ever leaving this turn of the event loop; requests must get theirs.
    await setImmediate();
    if ("failed" in outcome) {
      if (outcome.failed === 1) return;
      oneByOne = outcome.failed;
    } else if (outcome.moved === 0) return;
    else oneByOne -= 1;
  }
}

/** A new consumer begins at the end of the log; one that is known goes on where it was. */
export async function registerConsumers(services: Services, consumers: readonly Consumer[]): Promise<void> {
  if (consumers.length === 0) return;
  await asSystem(services, "hand out events")
    .transaction()
    .execute(async (tx) => {
      const end = tx.selectFrom("eventCursors").select("position").where("consumer", "=", NUMBERING);
      const { position } = await end.executeTakeFirstOrThrow();
      await tx
        .insertInto("eventCursors")
        .values(consumers.map(({ name }) => ({ consumer: name, position, attempts: 0, retryAt: null, setAside: 0 })))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    });
}

/** Consumers that have not come to the end, and do not wait after a failure. */
async function behind(services: Services): Promise<string[]> {
  const cursors = await asSystem(services, "hand out events").selectFrom("eventCursors").selectAll().execute();
  const end = cursors.find(({ consumer }) => consumer === NUMBERING)?.position ?? 0;
  const now = services.clock.now();
  return cursors
    .filter(({ position, retryAt }) => position < end && (retryAt === null || retryAt <= now))
    .map(({ consumer }) => consumer);
}
