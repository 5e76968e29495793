import { type ChainStatement, isPrune, type PruneRecord, reachOf } from "#server/audit/anchor-format";
import { type PruneFault, pruneFaults } from "#server/audit/prune-checks";
import type { StatementFault } from "#server/audit/statement-checks";
import type { AnchorProblem, AuditBreak, AuditVerify } from "#server/audit/verify-result";

/** A problem and its position. */
export interface Finding {
  /** `broken`: there is a contradiction. `unproven`: the proof is missing. */
  severity: "broken" | "unproven";
  /** Kind of break, reason of an anchor problem, or one of this program's own. */
  kind: string;
  /** Position in the chain, where there is one. */
  chainSeq: number | null;
  message: string;
}

const short = (hash: string | null): string => (hash === null ? "nothing" : hash.slice(0, 16));

const pruneTexts: Record<PruneFault, string> = {
  prune_of_another_chain: "is another chain's",
  prune_of_no_organization: "cannot be: nothing is removed from chains of partners and of the system",
  prune_diverged: "contradicts the anchors around it, or a copy of it",
  prune_unsigned: "has no signature, although the chain's statements are signed",
  prune_signature_invalid: "has no valid signature",
  prune_too_young: "says that it removed entries from its own last day",
  prune_out_of_order: "is not in a valid position among the others",
  prune_not_in_file: "is missing from the anchor file, which holds what came before and after it",
  prune_beyond_anchor: "removed entries that were younger than its cutoff, as an anchor shows",
};

/** The reason for which a prune record does not count, of a break that is about one. */
export const pruneFaultOf = ({ kind, actual }: AuditBreak): PruneFault | undefined =>
  kind === "prefix_unexplained" ? pruneFaults.find((fault) => fault === actual) : undefined;

const unexplained = ({ expected, actual }: AuditBreak): string => {
  const fault = pruneFaults.find((one) => one === actual);
  if (fault) return `the prune record of the entries before this one ${pruneTexts[fault]}`;
  return expected === null
    ? "the entries before this one are gone, and no prune record says why"
    : "the entries before this one are not those that the prune record names";
};

const breakTexts: Record<AuditBreak["kind"], (found: AuditBreak) => string> = {
  sequence_gap: ({ expected, actual }) => `entries are missing: ${expected} should come next, but it is ${actual}`,
  link_mismatch: ({ expected, actual }) =>
    `the link to the entry before is cut: ${short(expected)} expected, ${short(actual)} found`,
  prefix_unexplained: unexplained,
  chain_hash_mismatch: () => "the entry's place in the chain was altered: its chain hash is not what it must be",
  missing_row: ({ auditId }) => `the entry itself is gone (audit id ${auditId})`,
  content_mismatch: ({ auditId }) => `the entry was altered after it was sealed (audit id ${auditId})`,
  unsealed_row: ({ auditId }) => `an entry is not in the chain (audit id ${auditId})`,
};

/** These breaks, and how many more there are than the hundred that are listed. */
export function breakFindings(breaks: readonly AuditBreak[], { breakCount, breaks: listed }: AuditVerify): Finding[] {
  const findings = breaks.map((found): Finding => {
    const unproven = found.kind === "prefix_unexplained" && found.expected === null;
    return {
      severity: unproven ? "unproven" : "broken",
      kind: found.kind,
      chainSeq: found.chainSeq,
      message: breakTexts[found.kind]?.(found) ?? found.kind,
    };
  });
  const more = breakCount - listed.length;
  if (more > 0)
    findings.push({ severity: "broken", kind: "more_breaks", chainSeq: null, message: `${more} more breaks follow` });
  return findings;
}

const problemTexts: Record<AnchorProblem["reason"], string> = {
  signature_invalid: "has no valid signature",
  seq_regressed: "covers entries that the chain no longer has",
  anchored_entry_missing: "covers an entry that is gone",
  hash_diverged: "has another hash than the chain, or than a copy of it, or does not follow the one before",
  count_shrank: "counted more entries than there are",
};

export const problemFinding = ({ anchorSeq, reason, anchoredHeadSeq, liveHeadSeq }: AnchorProblem): Finding => ({
  severity: "broken",
  kind: reason,
  chainSeq: anchoredHeadSeq,
  message: `anchor ${anchorSeq} ${problemTexts[reason] ?? reason} (anchored at ${anchoredHeadSeq}, chain ends at ${liveHeadSeq ?? 0})`,
});

export const nameOf = (statement: ChainStatement): string =>
  isPrune(statement) ? `prune record ${statement.anchorSeq}` : `anchor ${statement.anchorSeq}`;

/** What is wrong with an anchor or a prune record, looked at with the keys of this run. */
export function statementFinding({ statement, reason, signature }: StatementFault): Finding {
  const chainSeq = positionOf(statement);
  if (signature === "unknown_key") {
    const message = `${nameOf(statement)} is signed with ${statement.signingKeyId}, a key that is not known here`;
    return { severity: "unproven", kind: "unknown_key", chainSeq, message };
  }
  const kind = isPrune(statement) ? "prefix_unexplained" : reason;
  return { severity: "broken", kind, chainSeq, message: `${nameOf(statement)} ${faultText(reason, signature)}` };
}

function faultText(reason: StatementFault["reason"], signature: StatementFault["signature"]): string {
  if (signature === "superseded_key") return "is signed with a key that another had replaced";
  if (signature === "invalid") return "has a wrong signature";
  if (signature === "unsigned") return "has no signature, although one before it has";
  return reason in pruneTexts
    ? pruneTexts[reason as PruneFault]
    : "does not follow the one before, or a copy of it says something else";
}

/** Of a prune record: the first position that it leaves. */
export const positionOf = (statement: ChainStatement): number =>
  isPrune(statement) ? (statement as PruneRecord).prunedThroughSeq + 1 : reachOf(statement);
