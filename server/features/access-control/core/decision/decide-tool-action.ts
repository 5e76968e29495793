import type { PamRule } from "#server/db/tables/pam-rules";
import { type Candidate, factsOf } from "./candidate.ts";
import { windowOf } from "./decide.ts";
import { BLOCKED_BY_DEFAULT, type Decision, pendingBecause, undecided } from "./decision.ts";
import { inOrder, isAbout } from "./order.ts";
import { judgeRule, readRule } from "./rule.ts";
import { atOnce, REPORT_STEPS_MAX, Steps } from "./steps.ts";

/** What a key asks a tool to do, with the sites of all devices that it concerns. */
export interface ToolAction {
  readonly candidate: Candidate;
  readonly targetSiteIds: readonly (string | null)[];
}

export interface ToolRulebook {
  readonly rules: readonly PamRule[];
  readonly defaultUnmatchedVerdict: string;
}

/** `runs`: at once, without any request. */
export type ToolDecision = Decision | { readonly verdict: "runs" };

/** From this tier on nothing runs that neither a rule nor a person approved. */
const APPROVED_TIER = 3;

/**
 * Decides what a key asks of a tool (docs/privileged-access.md, "Risk tiers"): reads run, then the rules about tools, then
 * the tier says what happens. Whatever fails is left to people.
 */
export function decideToolAction(book: ToolRulebook, action: ToolAction): ToolDecision {
  try {
    return chain(book, action);
  } catch {
    return pendingBecause("evaluation_failed");
  }
}

function chain(
  { rules, defaultUnmatchedVerdict }: ToolRulebook,
  { candidate, targetSiteIds }: ToolAction,
): ToolDecision {
  const { riskTier: tier, flowType, orgId } = candidate;
  if (flowType !== "ai_tool_action" || tier === null || !Number.isInteger(tier) || tier < 0 || tier > 4)
    throw new Error("no action of a tool");
  if (tier === 0) return { verdict: "runs" };
  const facts = factsOf({ ...candidate, subjectGroups: [] });
  const steps = new Steps(REPORT_STEPS_MAX);
  const asked = inOrder(rules, orgId).filter((rule) => isAbout(rule, "tool") && concerns(rule, targetSiteIds));
  // All are read first: one that cannot be understood might have denied.
  for (const { rule, read } of asked.map((rule) => ({ rule, read: readRule(rule, new Map()) }))) {
    const outcome = atOnce(judgeRule(read, facts, steps));
    if (outcome.kind === "match") return byRule(rule, outcome.asserted);
  }
  if (tier < APPROVED_TIER) return { verdict: "runs" };
  if (defaultUnmatchedVerdict === "auto_deny")
    return { ...undecided, verdict: "denied", denialReason: BLOCKED_BY_DEFAULT };
  return undecided;
}

/** A rule of a site approves only what stays in it, and otherwise concerns whatever touches it. */
function concerns({ siteId, verdict }: PamRule, sites: readonly (string | null)[]): boolean {
  if (siteId === null) return true;
  if (verdict !== "auto_approve") return sites.includes(siteId);
  return sites.length > 0 && sites.every((site) => site === siteId);
}

function byRule(rule: PamRule, asserted: boolean): Decision {
  const matched = { ...undecided, pamRuleId: rule.id, pamRuleName: rule.name };
  const by = { ...matched, decisionSource: "pam_rule" } as const;
  if (rule.verdict === "require_approval") return matched;
  if (rule.verdict === "auto_deny") return { ...by, verdict: "denied" };
  if (rule.verdict !== "auto_approve" || !asserted || rule.suspendedVerdict !== null)
    throw new Error("a rule about tools says what it must not");
  return { ...by, verdict: "auto_approved", durationMinutes: windowOf(rule) };
}
