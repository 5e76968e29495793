import { type ScheduledTask, schedule } from "node-cron";
import { MINUTE, SECOND } from "#server/platform/clock";
import type { Services } from "#server/services";
import { holdLease, releaseLease } from "./lease.ts";

export interface Schedule {
  readonly name: string;
  /** Five-field cron expression, UTC; `WORKER_INTERVALS` may replace it with seconds in tests. */
  readonly cron: string;
  run(services: Services): Promise<void>;
}

const LEASE = "scheduler";
const LEASE_MS = 15 * SECOND;
const RENEW_MS = 5 * SECOND;

/** Runs every schedule on one replica at a time: the holder of the scheduler lease. */
export function startScheduler(services: Services, schedules: readonly Schedule[]): { stop(): Promise<void> } {
  const holder = services.random.uuid();
  const running = new Set<Promise<void>>();
  let leading = false;
  let checked: Promise<void> = renew();
  const timer = setInterval(() => {
    checked = renew();
  }, RENEW_MS);
  const stops = schedules.map((item) => arm(services, item, () => runIfLeading(item)));

  async function renew(): Promise<void> {
    try {
      leading = await holdLease(services, LEASE, holder, LEASE_MS);
    } catch (error) {
      // Not knowing is not leading: another replica may hold it by now.
      leading = false;
      services.log.warn("scheduler.lease_unavailable", { error: error as Error });
    }
  }

  function runIfLeading(item: Schedule): void {
    const work = checked.then(() => (leading ? once(services, item) : undefined));
    running.add(work);
    void work.finally(() => running.delete(work));
  }

  return {
    async stop() {
      clearInterval(timer);
      for (const stop of stops) stop();
      await Promise.all([checked, ...running]);
      if (leading) await releaseLease(services, LEASE, holder).catch(() => undefined);
    },
  };
}

function arm(services: Services, item: Schedule, run: () => void): () => void {
  const seconds = services.config.workerIntervals[item.name];
  if (seconds !== undefined) {
    const timer = setInterval(run, seconds * SECOND);
    return () => clearInterval(timer);
  }
  const task: ScheduledTask = schedule(item.cron, run, { timezone: "UTC", noOverlap: true });
  return () => void task.destroy();
}

/** A run that is still going when its next turn comes keeps the lease and the turn is skipped. */
async function once(services: Services, item: Schedule): Promise<void> {
  const holder = services.random.uuid();
  if (!(await holdLease(services, `schedule:${item.name}`, holder, 10 * MINUTE))) return;
  try {
    await item.run(services);
    services.metrics.workerLastRun.set({ worker: item.name }, Math.floor(services.clock.nowMs() / 1_000));
  } catch (error) {
    services.log.error("schedule.failed", { schedule: item.name, error: error as Error });
  } finally {
    await releaseLease(services, `schedule:${item.name}`, holder).catch(() => undefined);
  }
}
