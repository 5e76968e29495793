import type { Kysely } from "kysely";
import { asSystem } from "#server/db/as-system";
import { skipsLocked } from "#server/db/dialect/locks";
import type { Database } from "#server/db/tables";
import type { Tx } from "#server/db/unit-of-work";
import { after, MINUTE, SECOND } from "#server/platform/clock";
import type { Services } from "#server/services";

export interface NewJob {
  readonly kind: string;
  readonly payload: Record<string, unknown>;
  /** At most one unfinished job per key: queueing it again changes nothing. */
  readonly uniqueKey?: string;
  readonly maxAttempts?: number;
}

/** Handlers are idempotent: a job whose worker died is run again (docs/platform.md, "Jobs"). */
export type JobHandler = (services: Services, payload: Record<string, unknown>) => Promise<void>;
export type JobHandlers = Readonly<Record<string, JobHandler>>;

const LEASE_MS = 2 * MINUTE;
const IDLE_MS = SECOND;
const BACKOFF_MAX_MS = 10 * MINUTE;

/** Queues work in the transaction that needs it done: both are kept or neither. */
export async function enqueueJob(tx: Tx, services: Pick<Services, "clock" | "random">, job: NewJob): Promise<void> {
  const now = services.clock.now();
  await tx
    .insertInto("jobs")
    .values({
      id: services.random.uuid(),
      kind: job.kind,
      payload: job.payload,
      status: "queued",
      uniqueKey: job.uniqueKey ?? null,
      runAt: now,
      attempts: 0,
      maxAttempts: job.maxAttempts ?? 10,
      lockedBy: null,
      lockedUntil: null,
      lastError: null,
      createdAt: now,
      updatedAt: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Claims the oldest due job, or one whose worker's lease ran out. */
async function claim(services: Services, db: Kysely<Database>, worker: string) {
  const now = services.clock.now();
  return db.transaction().execute(async (tx) => {
    let due = tx
      .selectFrom("jobs")
      .selectAll()
      .where((eb) =>
        eb.or([
          eb.and([eb("status", "=", "queued"), eb("runAt", "<=", now)]),
          eb.and([eb("status", "=", "running"), eb("lockedUntil", "<=", now)]),
        ]),
      )
      .orderBy("runAt")
      .orderBy("id")
      .limit(1);
    if (skipsLocked(services.store)) due = due.forUpdate().skipLocked();
    const job = await due.executeTakeFirst();
    if (!job) return undefined;
    const attempts = job.attempts + 1;
    await tx
      .updateTable("jobs")
      .set({ status: "running", attempts, lockedBy: worker, lockedUntil: after(now, LEASE_MS), updatedAt: now })
      .where("id", "=", job.id)
      .execute();
    return { ...job, attempts };
  });
}

/** Runs one due job; false when there was none. */
export async function runNextJob(services: Services, handlers: JobHandlers, worker: string): Promise<boolean> {
  const db = asSystem(services, "run jobs");
  const job = await claim(services, db, worker);
  if (!job) return false;
  const settle = (change: { status: "queued" | "done" | "failed"; lastError: string | null; runAt: string }) =>
    db
      .updateTable("jobs")
      .set({ ...change, lockedBy: null, lockedUntil: null, updatedAt: services.clock.now() })
      .where("id", "=", job.id)
      .where("lockedBy", "=", worker)
      .where("attempts", "=", job.attempts)
      .execute();
  try {
    const handler = handlers[job.kind];
    if (!handler) throw new Error(`no handler for jobs of kind ${job.kind}`);
    await handler(services, job.payload);
    await settle({ status: "done", lastError: null, runAt: job.runAt });
  } catch (error) {
    const spent = job.attempts >= job.maxAttempts;
    const wait = Math.min(BACKOFF_MAX_MS, SECOND * 2 ** job.attempts);
    services.log.warn("job.failed", {
      kind: job.kind,
      jobId: job.id,
      attempts: job.attempts,
      spent,
      error: error as Error,
    });
    await settle({
      status: spent ? "failed" : "queued",
      lastError: (error as Error).message.slice(0, 500),
      runAt: after(services.clock.now(), wait),
    });
  }
  return true;
}

/** Works until stopped; finishes the job in hand first. */
export function startJobRunner(services: Services, handlers: JobHandlers): { stop(): Promise<void> } {
  const worker = services.random.uuid();
  const stopping = new AbortController();
  const done = loop();
  return {
    async stop() {
      stopping.abort();
      await done;
    },
  };

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      let ran = false;
      try {
        ran = await runNextJob(services, handlers, worker);
      } catch (error) {
        services.log.warn("jobs.unavailable", { error: error as Error });
      }
      if (!ran) await pause(IDLE_MS, stopping.signal);
    }
  }
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish, { once: true });
    function finish() {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    }
  });
}
