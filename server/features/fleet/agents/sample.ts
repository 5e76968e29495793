import type { Endpoint } from "#contract/core/endpoint";
import type { agents } from "#contract/resources/fleet/agents";
import type { AgentPrincipal } from "#server/access/principal";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { after, DAY, MINUTE } from "#server/platform/clock";

type Heartbeat = typeof agents.heartbeat extends Endpoint<infer T> ? T["body"] : never;
export type Metrics = NonNullable<Heartbeat["metrics"]>;

const AGE_MAX_MS = DAY;
const AHEAD_MAX_MS = 5 * MINUTE;

/** Whether a sample may carry this time (docs/fleet.md, "Samples"). */
export const isPlausible = (timestamp: string, now: string): boolean =>
  timestamp >= after(now, -AGE_MAX_MS) && timestamp <= after(now, AHEAD_MAX_MS);

/**
 * Keeps one sample. A heartbeat's sample is of now, so one without a believable time of its own takes the server's.
 * The same moment twice is the same sample.
 */
export async function storeSample(call: Pick<Call, "clock">, tx: Tx, who: AgentPrincipal, metrics: Metrics) {
  const { timestamp, cpuPercent, ramPercent, diskPercent, ...extra } = metrics;
  const now = call.clock.now();
  await tx
    .insertInto("deviceMetrics")
    .values({
      orgId: who.orgId,
      deviceId: who.deviceId,
      timestamp: timestamp !== undefined && isPlausible(timestamp, now) ? timestamp : now,
      cpuPercent,
      ramPercent,
      diskPercent,
      extra,
    })
    .onConflict((conflict) => conflict.columns(["orgId", "deviceId", "timestamp"]).doNothing())
    .execute();
}
