import { type ScheduledTask, schedule } from "node-cron";
import { SECOND } from "#server/platform/clock";
import type { Services } from "#server/services";
import { holdLease, noteCutOff, releaseLease, takeCutOff } from "./lease.ts";

export interface Schedule {
  readonly name: string;
  /** Five-field cron expression, UTC; `WORKER_INTERVALS` may replace it with seconds in tests. */
  readonly cron: string;
  /** Waited for when the server stops, unless it throws the reason of `signals.stopping`: then it is run again. */
  run(services: Services): Promise<void>;
}

const LEASE = "scheduler";
const LEASE_SECONDS = 15;

/** How long a silent replica leads, and its run keeps the turn; renewed three times as often. Tests make it shorter. */
const leaseMsOf = ({ config }: Services): number => (config.workerIntervals["lease"] ?? LEASE_SECONDS) * SECOND;

/**
 * Runs every schedule on one replica at a time: the holder of the scheduler lease. Whoever becomes that begins with the
 * runs that were cut off.
 */
export function startScheduler(services: Services, schedules: readonly Schedule[]): { stop(): Promise<void> } {
  const holder = services.random.uuid();
  const leaseMs = leaseMsOf(services);
  const running = new Set<Promise<void>>();
  // By this process's own clock: one that was suspended past its lease must not run what another runs by now.
  let leadingUntilMs = 0;
  let checked: Promise<void> = renew();
  const timer = setInterval(() => {
    checked = renew();
  }, leaseMs / 3);
  const stops = schedules.map((item) => arm(services, item, () => runIfLeading(item)));

  async function renew(): Promise<void> {
    const led = leading();
    const askedMs = services.clock.nowMs();
    try {
      leadingUntilMs = (await holdLease(services, LEASE, holder, leaseMs)) ? askedMs + leaseMs : 0;
      if (!led && leading()) await takeUp();
    } catch (error) {
      // Not knowing is not leading: another replica may hold it by now.
      leadingUntilMs = 0;
      services.log.warn("scheduler.lease_unavailable", { error: error as Error });
    }
  }

  function leading(): boolean {
    return services.clock.nowMs() < leadingUntilMs;
  }

  async function takeUp(): Promise<void> {
    const names = await takeCutOff(services);
    for (const item of schedules) if (names.includes(item.name)) runIfLeading(item);
  }

  function runIfLeading(item: Schedule): void {
    const work = checked
      .then(() => (leading() ? once(services, item) : undefined))
      .catch((error) => services.log.error("schedule.failed", { schedule: item.name, error: error as Error }));
    running.add(work);
    void work.finally(() => running.delete(work));
  }

  return {
    async stop() {
      clearInterval(timer);
      for (const stop of stops) stop();
      await checked;
      await Promise.all(running);
      if (leading()) await releaseLease(services, LEASE, holder).catch(() => undefined);
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

/**
 * A run that is still going when its next turn comes keeps its lease and the turn is skipped. It renews the lease as
 * it goes, so that a run whose process died keeps its successor waiting no longer than a dead leader does.
 */
async function once(services: Services, item: Schedule): Promise<void> {
  const name = `schedule:${item.name}`;
  const holder = services.random.uuid();
  const leaseMs = leaseMsOf(services);
  const hold = () => holdLease(services, name, holder, leaseMs);
  if (!(await hold())) return;
  const renewing = setInterval(() => void hold().catch(() => undefined), leaseMs / 3);
  try {
    await item.run(services);
    services.metrics.workerLastRun.set({ worker: item.name }, Math.floor(services.clock.nowMs() / 1_000));
  } catch (error) {
    if (error !== services.store.signals.stopping.reason) throw error;
    await noteCutOff(services, item.name);
    services.log.info("schedule.cut_off", { schedule: item.name });
  } finally {
    clearInterval(renewing);
    await releaseLease(services, name, holder).catch(() => undefined);
  }
}
