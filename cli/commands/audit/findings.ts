import type { AnchorProblem, AuditBreak, AuditVerify } from "#server/audit/verify-result";

/** One thing that is wrong, and where. */
export interface Finding {
  /** `broken`: something contradicts something. `unproven`: what would prove it is missing. */
  severity: "broken" | "unproven";
  /** Kind of break or reason of an anchor problem (docs/audit.md, "Verification"), or one of this program's own. */
  kind: string;
  /** Position in the chain, where there is one. */
  chainSeq: number | null;
  message: string;
}

const short = (hash: string | null): string => (hash === null ? "nothing" : hash.slice(0, 16));

const breakTexts: Record<AuditBreak["kind"], (found: AuditBreak) => string> = {
  sequence_gap: ({ expected, actual }) => `entries are missing: ${expected} should come next, but it is ${actual}`,
  link_mismatch: ({ expected, actual }) =>
    `the link to the entry before is cut: ${short(expected)} expected, ${short(actual)} found`,
  prefix_unexplained: ({ expected }) =>
    expected === null
      ? "the entries before this one are gone, and no prune record says why"
      : "the entries before this one are not those that the prune record names",
  chain_hash_mismatch: () => "the entry's place in the chain was altered: its chain hash is not what it must be",
  missing_row: ({ auditId }) => `the entry itself is gone (audit id ${auditId})`,
  content_mismatch: ({ auditId }) => `the entry was altered after it was sealed (audit id ${auditId})`,
  unsealed_row: ({ auditId }) => `an entry is not in the chain (audit id ${auditId})`,
};

/** The breaks of a result, the first hundred one by one. */
export function breakFindings({ breaks, breakCount }: AuditVerify): Finding[] {
  const findings = breaks.map((found): Finding => {
    const unexplained = found.kind === "prefix_unexplained" && found.expected === null;
    return {
      severity: unexplained ? "unproven" : "broken",
      kind: found.kind,
      chainSeq: found.chainSeq,
      message: breakTexts[found.kind]?.(found) ?? found.kind,
    };
  });
  const more = breakCount - breaks.length;
  if (more > 0)
    findings.push({ severity: "broken", kind: "more_breaks", chainSeq: null, message: `${more} more breaks follow` });
  return findings;
}

const problemTexts: Record<AnchorProblem["reason"], string> = {
  signature_invalid: "has no signature that verifies",
  seq_regressed: "covers entries that the chain does not have any more",
  anchored_entry_missing: "covers an entry that is gone",
  hash_diverged: "has another hash than the chain",
  count_shrank: "counted more entries than there are",
};

export const problemFinding = ({ anchorSeq, reason, anchoredHeadSeq, liveHeadSeq }: AnchorProblem): Finding => ({
  severity: "broken",
  kind: reason,
  chainSeq: anchoredHeadSeq,
  message: `anchor ${anchorSeq} ${problemTexts[reason] ?? reason} (anchored at ${anchoredHeadSeq}, chain ends at ${liveHeadSeq ?? 0})`,
});
