import type { Wakes } from "./app.ts";
import { completeAnchorFile } from "./audit/anchor-copies.ts";
import { anchorGrowth, writerOf } from "./audit/keeper.ts";
import { markRestated } from "./audit/restate.ts";
import { startEvents } from "./events/runner.ts";
import { warnOfDrift } from "./features/access-control/pam-rules/warn-of-drift.ts";
import { startDeliveries } from "./features/integrations/webhooks/sending/start-deliveries.ts";
import { consumers, jobHandlers, schedules } from "./generated/background.ts";
import { startJobRunner } from "./jobs/queue.ts";
import { startScheduler } from "./jobs/scheduler.ts";
import { HOUR } from "./platform/clock.ts";
import type { Services } from "./services.ts";

/** How long a stopping server waits for its audit outbox; what is left waits safely for the next start. */
const DRAIN_MS = 10_000;

/** Audit writer, events, job runner, deliveries and schedules of this process. */
export function startBackground(
  services: Services & Wakes,
  options: { schedules: boolean },
): { stop(): Promise<void> } {
  const writer = writerOf(services);
  writer.start();
  services.wakeAuditWriter = () => writer.wake();
  const events = startEvents(services, consumers);
  services.wakeEvents = events.wake;
  services.eventConsumers = consumers.map(({ name }) => name);
  const runner = startJobRunner(services, jobHandlers);
  const scheduler = options.schedules ? startScheduler(services, schedules) : undefined;
  const deliveries = options.schedules ? startDeliveries(services) : undefined;
  const copies = options.schedules ? startCopies(services) : undefined;
  const drift = warnOfDrift(services).catch((error) => services.log.error("pam-rule-tier-drift", { error }));
  return {
    async stop() {
      await scheduler?.stop();
      await copies?.stop();
      await drift;
      await runner.stop();
      await deliveries?.stop();
      await events.stop();
      try {
        await writer.drain(AbortSignal.timeout(DRAIN_MS));
        if (options.schedules) await anchorGrowth(services);
      } catch (error) {
        services.log.warn("audit.not_drained", { error: error as Error });
      }
      await writer.stop();
      await Promise.all(Object.values(services.webhookTargets).map((targets) => targets.close()));
    },
  };
}

/** Every process, not only the one that runs the schedules, completes the anchor file of its own: now and hourly. */
function startCopies(services: Services): { stop(): Promise<void> } {
  const complete = () => completeAnchorFile(services).then(() => markRestated(services));
  const failed = (error: unknown) => services.log.error("audit.anchor_file_unavailable", { error: error as Error });
  let work = complete().catch(failed);
  const timer = setInterval(() => {
    work = work.then(complete).catch(failed);
  }, HOUR);
  return {
    async stop() {
      clearInterval(timer);
      await work;
    },
  };
}
