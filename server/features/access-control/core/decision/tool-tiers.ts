import { foldName } from "./fold.ts";
import type { Criteria } from "./rule.ts";

/**
 * Risk tiers that calls of each tool may have (docs/privileged-access.md, "Risk tiers"): 0 reads, 4 runs a script on
 * several devices.
 */
export const toolTiers: Readonly<Record<string, readonly number[]>> = {
  list_devices: [0],
  get_device: [0],
  find_devices: [0],
  get_device_metrics: [0],
  get_device_software: [0],
  get_device_custom_fields: [0],
  set_device_custom_fields: [2],
  search: [0],
  list_sites: [0],
  list_alerts: [0],
  get_alert: [0],
  acknowledge_alert: [1],
  resolve_alert: [2],
  list_scripts: [0],
  run_script: [3, 4],
  get_script_execution: [0],
  send_device_command: [2, 3],
  get_policy_compliance: [0],
  list_pending_patches: [0],
  list_tickets: [0],
  create_ticket: [1],
  comment_ticket: [1],
  get_tool_execution: [0],
};

/** Tiers that a rule about tools can meet; null where nothing is known of its tool, or its tier is turned round. */
export function reachableTiers(
  rule: Pick<Criteria, "matchToolName" | "matchRiskTier" | "matchNegate">,
): number[] | null {
  const { matchToolName: tool, matchRiskTier, matchNegate } = rule;
  if ((tool === null && matchRiskTier === null) || matchNegate?.includes("riskTier")) return null;
  const known = tool === null ? undefined : toolTiers[foldName(tool)];
  if (tool !== null && known === undefined) return null;
  if (known && !matchNegate?.includes("toolName")) return [...known];
  const others = Object.values(toolTiers).filter((tiers) => tiers !== known);
  return [...new Set(others.flat())].sort((a, b) => a - b);
}

/** Whether a rule names a tier that its tool never has. */
export function isTierStale(rule: Pick<Criteria, "matchToolName" | "matchRiskTier" | "matchNegate">): boolean {
  const tiers = reachableTiers(rule);
  return rule.matchRiskTier !== null && tiers !== null && !tiers.includes(rule.matchRiskTier);
}
