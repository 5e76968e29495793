import { deviceStatuses } from "#contract/resources/fleet/devices";
import { countBrokenChains } from "#server/audit/incidents";
import { asSystem } from "#server/db/as-system";
import { countWaitingEvents } from "#server/events/waiting";
import type { Call } from "#server/http/call";
import { SECOND } from "#server/platform/clock";
import { sameText } from "#server/platform/vault";
import { problem } from "#server/problem";
import type { Services } from "#server/services";

/**
 * Metrics of this process and of the installation (docs/platform.md, "Metrics"). Without a scrape token they are open
 * in development and not found in production.
 */
export async function scrapeMetrics(call: Pick<Call, "services" | "config" | "header">): Promise<string> {
  admit(call);
  await countDevices(call.services);
  await countBrokenChains(call.services).catch((error) =>
    call.services.log.warn("metrics.broken_chains_unknown", { error: error as Error }),
  );
  await countWaitingEvents(call.services).catch((error) => {
    call.services.metrics.waitingEvents.reset();
    call.services.log.warn("metrics.events_unknown", { error: error as Error });
  });
  return call.services.metrics.registry.metrics();
}

function admit({ config, header }: Pick<Call, "config" | "header">): void {
  const wanted = config.metricsScrapeToken;
  if (wanted === undefined) {
    if (config.production) throw problem("NOT_FOUND");
    return;
  }
  const given = /^Bearer (.+)$/i.exec(header("authorization") ?? "")?.[1];
  if (given === undefined || !sameText(given, wanted)) throw problem("UNAUTHENTICATED");
}

const KEPT_MS = 10 * SECOND;
const counted = new WeakMap<Services, number>();

/** Counted at most once in ten seconds; without a database the gauge is left out rather than stale. */
async function countDevices(services: Services): Promise<void> {
  const nowMs = services.clock.nowMs();
  if (nowMs - (counted.get(services) ?? Number.NEGATIVE_INFINITY) < KEPT_MS) return;
  const gauge = services.metrics.devices;
  try {
    const rows = await asSystem(services, "report health")
      .selectFrom("devices")
      .select((eb) => ["status", eb.fn.countAll<number>().as("count")])
      .groupBy("status")
      .execute();
    for (const status of deviceStatuses) gauge.set({ status }, 0);
    for (const { status, count } of rows) gauge.set({ status }, Number(count));
    counted.set(services, nowMs);
  } catch (error) {
    gauge.reset();
    services.log.warn("metrics.devices_unknown", { error: error as Error });
  }
}
