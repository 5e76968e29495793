import type { Datum } from "./candidate.ts";

/** Of an approval whose rule says nothing else. */
export const DEFAULT_WINDOW_MINUTES = 15;
export const WINDOW_MINUTES_MAX = 1_440;

export const BLOCKED_BY_DEFAULT = "Blocked by organization default";

/** Why a decision is what it is, for the ledger: ids and names, nothing that was reported. */
export type Evidence =
  | { readonly kind: "software_policy_audit"; readonly policyName: string; readonly entry: string }
  /** A denial that could not be judged: what the report did not say. */
  | { readonly kind: "missing_data"; readonly of: string; readonly missing: readonly Datum[] }
  /** An approval that was not given, and why. */
  | { readonly kind: "withheld"; readonly of: string; readonly why: "missing_data" | "path_not_canonical" }
  | { readonly kind: "undecided"; readonly why: "out_of_steps" | "rules_changed" | "evaluation_failed" };

export interface Decision {
  readonly verdict: "pending" | "auto_approved" | "denied" | "ignored";
  /** Null while pending, and of the organization's default. */
  readonly decisionSource: "software_policy" | "pam_rule" | null;
  readonly matchedPolicyName: string | null;
  /** Of the rule that matched. */
  readonly pamRuleId: string | null;
  readonly pamRuleName: string | null;
  /** Of an automatic approval. */
  readonly durationMinutes: number | null;
  readonly denialReason: string | null;
  readonly evidence: readonly Evidence[];
}

/** Nobody and nothing has decided. */
export const undecided: Decision = {
  verdict: "pending",
  decisionSource: null,
  matchedPolicyName: null,
  pamRuleId: null,
  pamRuleName: null,
  durationMinutes: null,
  denialReason: null,
  evidence: [],
};

/** What a human has to decide, because nothing could. */
export const pendingBecause = (why: (Evidence & { kind: "undecided" })["why"]): Decision => ({
  ...undecided,
  evidence: [{ kind: "undecided", why }],
});
