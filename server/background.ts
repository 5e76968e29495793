import { jobHandlers, schedules } from "./features/background.ts";
import { startJobRunner } from "./jobs/queue.ts";
import { startScheduler } from "./jobs/scheduler.ts";
import type { Services } from "./services.ts";

/** Audit writer, job runner and schedules of this process. */
export async function startBackground(
  services: Services & { wakeAuditWriter: () => void },
  options: { schedules: boolean },
): Promise<{ stop(): Promise<void> }> {
  const runner = startJobRunner(services, jobHandlers);
  const scheduler = options.schedules ? startScheduler(services, schedules) : undefined;
  return {
    async stop() {
      await scheduler?.stop();
      await runner.stop();
    },
  };
}
