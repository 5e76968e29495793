export const ruleVerdicts = ["auto_approve", "auto_deny", "require_approval", "ignore"] as const;

/** What happens to what no rule matches. */
export const defaultVerdicts = ["require_approval", "auto_deny"] as const;

/** Criteria that a rule may turn round. A thumbprint is none of them: everything else than one certificate is no identity. */
export const negatedCriteria = [
  "signer",
  "signerGroup",
  "hash",
  "pathGlob",
  "parentImage",
  "commandLine",
  "user",
  "adGroup",
  "toolName",
  "riskTier",
] as const;

export type NegatedCriterion = (typeof negatedCriteria)[number];

/** When a rule holds: `HH:MM` of a zone (default UTC), on days 0 (Sunday) to 6, all of them if absent. */
export interface TimeWindow {
  readonly start: string;
  readonly end: string;
  readonly days?: number[] | undefined;
  readonly timezone?: string | undefined;
}
