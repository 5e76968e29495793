import type { AgentPrincipal } from "#server/access/principal";
import { chunks } from "#server/db/chunks";
import type { Tx } from "#server/db/unit-of-work";
import { holdDevice } from "#server/features/fleet/devices/hold-device";
import type { Call } from "#server/http/call";
import { isPlausible, type Metrics } from "./sample.ts";

const STRETCH_MS = 15_000;

/** Keeps of each 15 seconds the first sample, and answers how many that were (docs/fleet.md, "Samples"). */
export async function storeSamples(
  call: Pick<Call, "clock" | "services">,
  tx: Tx,
  who: AgentPrincipal,
  samples: readonly (Metrics & { timestamp: string })[],
): Promise<number> {
  const now = call.clock.now();
  const believed = samples
    .filter(({ timestamp }) => isPlausible(timestamp, now))
    .toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
  const [first, last] = [believed[0], believed.at(-1)];
  if (!first || !last) return 0;
  await holdDevice(tx, call.services, who.deviceId);
  const known = await tx
    .selectFrom("deviceMetrics")
    .select("timestamp")
    .where("orgId", "=", who.orgId)
    .where("deviceId", "=", who.deviceId)
    .where("timestamp", ">=", new Date(stretchOf(first.timestamp) * STRETCH_MS).toISOString())
    .where("timestamp", "<", new Date((stretchOf(last.timestamp) + 1) * STRETCH_MS).toISOString())
    .execute();
  const taken = new Set(known.map(({ timestamp }) => stretchOf(timestamp)));
  const fresh = believed.filter(({ timestamp }) => {
    const stretch = stretchOf(timestamp);
    return !taken.has(stretch) && taken.add(stretch);
  });
  const rows = fresh.map(({ timestamp, cpuPercent, ramPercent, diskPercent, ...extra }) => ({
    ...{ orgId: who.orgId, deviceId: who.deviceId, timestamp },
    ...{ cpuPercent, ramPercent, diskPercent, extra },
  }));
  for (const some of chunks(rows)) await tx.insertInto("deviceMetrics").values(some).execute();
  return fresh.length;
}

const stretchOf = (timestamp: string): number => Math.floor(Date.parse(timestamp) / STRETCH_MS);
