import { asSystem } from "#server/db/as-system";
import { SECOND } from "#server/platform/clock";
import type { Services } from "#server/services";
import { holdLease, releaseLease } from "./lease.ts";

const LEASE_MS = 10 * SECOND;
const RENEW_MS = 3 * SECOND;

/**
 * Says that this process is alive, so that others know which running requests have nobody left to finish them. The
 * embedded database has one server process: whatever ran there before is gone.
 */
export async function startProcessLease(services: Services): Promise<{ stop(): Promise<void> }> {
  const { processId, store } = services;
  const name = `process ${processId}`;
  if (store.dialect === "sqlite")
    await asSystem(services, "lead schedules").deleteFrom("leases").where("name", "like", "process %").execute();
  await holdLease(services, name, processId, LEASE_MS);
  let renewing: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    renewing = holdLease(services, name, processId, LEASE_MS).catch((error) =>
      services.log.warn("process.lease_unavailable", { error: error as Error }),
    );
  }, RENEW_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await renewing;
      await releaseLease(services, name, processId).catch(() => undefined);
    },
  };
}
