import type { Kysely } from "kysely";
import { interruptibleSleep } from "#server/platform/sleep";
import { appending } from "./busy.ts";
import { HeldChains } from "./held-chains.ts";
import { type MoveOptions, moveRound } from "./move-entries.ts";
import type { AuditTables } from "./tables.ts";

export interface AuditWriterOptions extends MoveOptions {
  pollMs?: number;
  backoffMaxMs?: number;
}

/** Moves the outbox into the log. `wake` and `drain` may be called at any time, from anywhere. */
export interface AuditWriter {
  /** Starts polling; wakes only hasten it. */
  start(): void;
  wake(): void;
  /**
   * Resolves when everything that waited at the time of the call is in the log, regardless of which process moved it.
   * Retries without end: `signal` gives up, which rejects.
   */
  drain(signal?: AbortSignal): Promise<void>;
  /** Stops after the batch in hand. What is left waits for the next start. */
  stop(): Promise<void>;
}

interface Pause {
  pause: number;
  /** Another server moves entries meanwhile. */
  others?: boolean;
}

const BUSY_RETRY_MS = 50;
const BACKOFF_MIN_MS = 100;

/** Makes the writer of one process. `db` is an unscoped handle. Nothing waits for it but `drain`. */
export function auditWriter(db: Kysely<AuditTables>, options: AuditWriterOptions = {}): AuditWriter {
  const { pollMs = 1_000, backoffMaxMs = 30_000 } = options;
  const sleeper = interruptibleSleep();
  let running: Promise<void> | undefined;
  let stopping = false;
  const backoff = (failures: number) => Math.min(backoffMaxMs, BACKOFF_MIN_MS * 2 ** Math.min(failures - 1, 20));

  const loop = async () => {
    const held = new HeldChains(backoff);
    let failures = 0;
    while (!stopping) {
      const { pause, others } = await moveRound(db, options, held).then(
        (round): Pause => {
          failures = 0;
          if (round === "moved") return { pause: 0 };
          if (round === "busy") return { pause: BUSY_RETRY_MS, others: true };
          return { pause: Math.min(pollMs, held.nextMs()) };
        },
        (error: unknown): Pause => {
          failures += 1;
          options.onError?.(error, failures);
          return { pause: backoff(failures) };
        },
      );
      if (pause === 0 || stopping) continue;
      // A wake cuts a pause short; after a failure the pause is the point.
      const wait = () => sleeper.sleep(pause, failures === 0);
      await (others ? appending(wait) : wait());
    }
  };
  const start = () => {
    stopping = false;
    running ??= loop().finally(() => {
      running = undefined;
    });
  };
  return {
    start,
    wake: sleeper.wake,
    async drain(signal) {
      start();
      const last = await retrying(() => lastWaiting(db), signal);
      while (last !== undefined && (await retrying(() => isWaiting(db, last), signal))) {
        signal?.throwIfAborted();
        sleeper.wake();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async stop() {
      stopping = true;
      sleeper.interrupt();
      await running;
    },
  };
}

async function lastWaiting(db: Kysely<AuditTables>): Promise<number | undefined> {
  return (await db.selectFrom("auditOutbox").select("id").orderBy("id", "desc").limit(1).executeTakeFirst())?.id;
}

async function isWaiting(db: Kysely<AuditTables>, last: number): Promise<boolean> {
  return (await db.selectFrom("auditOutbox").select("id").where("id", "<=", last).limit(1).execute()).length > 0;
}

async function retrying<T>(ask: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await ask();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, BACKOFF_MIN_MS));
    }
  }
}
