import type { PamRule } from "#server/db/tables/pam-rules";
import { type Candidate, type Datum, type Facts, factsOf } from "./candidate.ts";
import {
  BLOCKED_BY_DEFAULT,
  DEFAULT_WINDOW_MINUTES,
  type Decision,
  type Evidence,
  pendingBecause,
  undecided,
  WINDOW_MINUTES_MAX,
} from "./decision.ts";
import { inOrder, isAbout } from "./order.ts";
import { judgeRule, readRule, type SignerGroups } from "./rule.ts";
import { judgePolicy, type SoftwarePolicy } from "./software-policy.ts";
import { OutOfSteps, REPORT_STEPS_MAX, Steps, type Stepwise } from "./steps.ts";

/** Everything that a decision is made of. */
export interface Rulebook {
  /** Undefined: none is in force on the device. */
  readonly softwarePolicy: SoftwarePolicy | undefined;
  /** Rules of the organization, in any order. */
  readonly rules: readonly PamRule[];
  readonly groups: SignerGroups;
  readonly defaultUnmatchedVerdict: string;
}

/**
 * Decides a reported elevation (docs/privileged-access.md, "The decision chain"): software policy, rules, default. Nothing
 * but an allowlist entry, or an enabled rule of that verdict which says what is approved, approves; too much work is
 * pending. What cannot be understood throws, and whoever calls makes that pending too.
 */
export function* decide(book: Rulebook, candidate: Candidate): Stepwise<Decision> {
  try {
    return yield* chain(book, candidate);
  } catch (error) {
    if (error instanceof OutOfSteps) return pendingBecause("out_of_steps");
    throw error;
  }
}

/** What is known by the time a criterion is judged. */
interface Judging {
  readonly facts: Facts;
  readonly steps: Steps;
  /** Grows; what it holds of denials that could not be judged withholds approvals. */
  readonly evidence: Evidence[];
}

function* chain(book: Rulebook, candidate: Candidate): Stepwise<Decision> {
  if (candidate.flowType !== "uac_intercept") throw new Error("only reports are decided by rules");
  const judging: Judging = { facts: factsOf(candidate), steps: new Steps(REPORT_STEPS_MAX), evidence: [] };
  const byPolicy = book.softwarePolicy && (yield* policyDecision(book.softwarePolicy, judging));
  const decision = byPolicy ?? (yield* firstMatch(book, candidate, judging)) ?? byDefault(book.defaultUnmatchedVerdict);
  return { ...decision, evidence: judging.evidence };
}

function* policyDecision(policy: SoftwarePolicy, judging: Judging): Stepwise<Decision | undefined> {
  const { policyName, mode } = policy;
  const { hit, lacking } = yield* judgePolicy(policy, judging.facts, judging.steps);
  if (mode === "blocklist") lacking.map(({ entry, missing }) => noteLacking(judging, entry.name, missing));
  if (hit === undefined) return undefined;
  const by = { decisionSource: "software_policy", matchedPolicyName: policyName } as const;
  switch (mode) {
    case "audit":
      judging.evidence.push({ kind: "software_policy_audit", policyName, entry: hit.name });
      return undefined;
    case "blocklist":
      return { ...undecided, ...by, verdict: "denied" };
    case "allowlist":
      if (isWithheld(judging, policyName)) return undecided;
      return { ...undecided, ...by, verdict: "auto_approved", durationMinutes: DEFAULT_WINDOW_MINUTES };
    default:
      throw new Error(`a software policy of mode ${mode satisfies never}`);
  }
}

function* firstMatch(book: Rulebook, { orgId, siteId }: Candidate, judging: Judging): Stepwise<Decision | undefined> {
  const asked = inOrder(book.rules, orgId).filter(
    (rule) => isAbout(rule, "executable") && (rule.siteId === null || rule.siteId === siteId),
  );
  // All are read first: one that cannot be understood might have denied.
  for (const { rule, read } of asked.map((rule) => ({ rule, read: readRule(rule, book.groups) }))) {
    const outcome = yield* judgeRule(read, judging.facts, judging.steps);
    const denies = rule.verdict === "auto_deny" || rule.verdict === "require_approval";
    if (outcome.kind === "lacking" && denies) noteLacking(judging, rule.name, outcome.missing);
    if (outcome.kind === "match") return ruleDecision(rule, outcome.asserted, judging);
  }
  return undefined;
}

function ruleDecision(rule: PamRule, asserted: boolean, judging: Judging): Decision {
  const matched = { ...undecided, pamRuleId: rule.id, pamRuleName: rule.name };
  const by = { ...matched, decisionSource: "pam_rule" } as const;
  switch (rule.verdict) {
    case "require_approval":
      return matched;
    case "auto_deny":
      return { ...by, verdict: "denied" };
    case "auto_approve":
    case "ignore":
      if (!asserted || rule.suspendedVerdict !== null) throw new Error("a rule approves that must not");
      if (isWithheld(judging, rule.name)) return matched;
      if (rule.verdict === "ignore") return { ...by, verdict: "ignored" };
      return { ...by, verdict: "auto_approved", durationMinutes: windowOf(rule) };
    default:
      throw new Error(`a rule of verdict ${rule.verdict satisfies never}`);
  }
}

/** Minutes of an approval; what the database holds beyond the limits is no window. */
export function windowOf({ approvalDurationMinutes: minutes }: PamRule): number {
  if (minutes === null) return DEFAULT_WINDOW_MINUTES;
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > WINDOW_MINUTES_MAX)
    throw new Error("no length of a window");
  return minutes;
}

function byDefault(verdict: string): Decision {
  if (verdict === "require_approval") return undecided;
  if (verdict === "auto_deny") return { ...undecided, verdict: "denied", denialReason: BLOCKED_BY_DEFAULT };
  throw new Error(`a default verdict ${verdict}`);
}

const noteLacking = ({ evidence }: Judging, of: string, missing: readonly Datum[]) =>
  evidence.push({ kind: "missing_data", of, missing });

/** Whether an approval or a dismissal is left to people (docs/privileged-access.md, "Missing data" and "Paths"). */
function isWithheld({ evidence, facts }: Judging, of: string): boolean {
  const lacks = evidence.some(({ kind }) => kind === "missing_data");
  if (lacks) evidence.push({ kind: "withheld", of, why: "missing_data" });
  if (!facts.isPathCanonical) evidence.push({ kind: "withheld", of, why: "path_not_canonical" });
  return lacks || !facts.isPathCanonical;
}
