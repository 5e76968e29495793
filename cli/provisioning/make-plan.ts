import type { RmmClient } from "#sdk/client";
import { diff } from "./diff.ts";
import type { LiveState } from "./live.ts";
import type { FileOrganization, ProvisioningModel } from "./model.ts";
import type { Plan } from "./plan.ts";
import { readLive } from "./read-live.ts";
import type { Sender } from "./sender.ts";
import { type SinkContext, sinkConflicts, sinkHolds } from "./sinks.ts";

export interface PlanOptions {
  readonly rmm: RmmClient;
  readonly sender: Sender;
  readonly nowMs: number;
  readonly sinks: Pick<SinkContext, "env" | "forPrograms" | "redeliver">;
  /** False: the secrets of existing keys are not looked for. */
  readonly checkSinks: boolean;
  /** Called with the organizations that are there, before the long read of them. */
  begin?(there: readonly FileOrganization[]): Promise<void>;
}

/** Reads the server and compares. Changes nothing; a plan with conflicts is not to be applied. */
export async function makePlan(
  model: ProvisioningModel,
  options: PlanOptions,
): Promise<{ live: LiveState; plan: Plan }> {
  const { rmm, sender, nowMs, sinks, checkSinks, begin } = options;
  const live = await readLive(rmm, model, sender.read, begin);
  const plan = diff(model, live, { nowMs, sinkHolds: (key) => !checkSinks || sinkHolds(key, sinks.redeliver) });
  return { live, plan: { ...plan, conflicts: [...plan.conflicts, ...sinkConflicts(plan, sinks)] } };
}
