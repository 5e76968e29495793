import type { Endpoint } from "#contract/core/endpoint";
import type { agentReports } from "#contract/resources/fleet/agent-reports";
import { ignoredFields } from "#server/features/fleet/agents/ignored-fields";
import { ownDevice, refuseDraining } from "#server/features/fleet/agents/own-device";
import { storeSamples } from "#server/features/fleet/agents/sample-batch";
import { noteSourceIp } from "#server/features/fleet/agents/source-ip";
import type { Call } from "#server/http/call";

type MetricsCall = typeof agentReports.metrics extends Endpoint<infer T> ? Call<T> : never;

/** Samples of the past day; a malformed one is left out and never the others (docs/fleet.md, "Samples"). */
export async function reportMetrics(call: MetricsCall) {
  const who = ownDevice(call);
  refuseDraining(who);
  const { samples = [] } = call.body;
  const formed = samples.flatMap((sample) => sample ?? []);
  const received = await call.transaction(async (tx) => {
    await noteSourceIp(call, tx, who);
    return storeSamples(call, tx, who, formed);
  });
  return { received, dropped: samples.length - received, ...ignoredFields(call) };
}
