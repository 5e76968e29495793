import { featureTypes, policyFeatures } from "#contract/core/generated/policy-features";
import type { Reader } from "#server/db/unit-of-work";
import { effectiveFeatures } from "./effective.ts";

/** Agents look for these in every answer; what no policy can carry yet is null. */
export const noSettings = { pam: null, event_log: null, monitoring: null, backup: null };

export type AgentSettings = { readonly [Type in keyof typeof noSettings]: Record<string, unknown> | null };

const told = featureTypes.filter((type) => policyFeatures[type].toldToAgents);

/** What the agent of a device is told to do (docs/configuration-policies.md, "What agents are told"). */
export async function settingsForAgent(db: Reader, device: { readonly id: string }): Promise<AgentSettings> {
  const effective = await effectiveFeatures(db, { device, types: told });
  return { ...noSettings, ...Object.fromEntries(told.map((type) => [type, effective[type].settings])) };
}
