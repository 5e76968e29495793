import { pause } from "#server/jobs/queue";
import { SECOND } from "#server/platform/clock";
import type { Services } from "#server/services";
import { Deliverer } from "./deliverer.ts";
import { releaseAll } from "./lease.ts";

const IDLE_MS = 400;
const BUSY_MS = 50;
const GRACE_MS = 5 * SECOND;

/** Sends deliveries until stopped, beside the requests of this process. */
export function startDeliveries(services: Services): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const deliverer = new Deliverer(services);
  let turning = new AbortController();
  deliverer.onWake(() => turning.abort());
  const done = loop();
  return {
    async stop() {
      stopping.abort();
      await done;
      await deliverer
        .close(GRACE_MS)
        .catch((error) => services.log.warn("webhooks.unavailable", { error: error as Error }));
    },
  };

  async function loop(): Promise<void> {
    // The embedded database has one server process: whoever held a queue there is gone.
    if (services.store.dialect === "sqlite") await releaseAll(services).catch(() => undefined);
    while (!stopping.signal.aborted) {
      turning = new AbortController();
      try {
        await deliverer.turn();
      } catch (error) {
        services.log.warn("webhooks.unavailable", { error: error as Error });
        await pause(SECOND, stopping.signal);
      }
      await pause(deliverer.isHolding ? BUSY_MS : IDLE_MS, AbortSignal.any([turning.signal, stopping.signal]));
    }
  }
}
