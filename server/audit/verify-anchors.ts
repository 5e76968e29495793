import { type Anchor, type PruneRecord, statementHash } from "./anchor-format.ts";
import type { ChainLink } from "./chain.ts";
import type { CheckedStatements } from "./statement-checks.ts";
import type { AnchorProblem, AuditVerify } from "./verify-result.ts";

type Walked = Pick<AuditVerify, "head" | "entriesChecked">;

/** Holds anchors against the chain that is walked; a copy kept outside counts like one of the database. */
export function anchorChecks({ anchors, latest, prunes, faults }: CheckedStatements) {
  const hashes = new Map<number, string | undefined>(anchors.map((anchor) => [anchor.headChainSeq, undefined]));
  return {
    /** Remembers the hashes at anchored positions while the chain streams by. */
    note(link: ChainLink) {
      if (hashes.has(link.chainSeq)) hashes.set(link.chainSeq, link.chainHash);
    },
    result(found: Walked): AuditVerify["anchors"] {
      const liveHeadSeq = found.head?.chainSeq ?? null;
      const problems = new Map<string, AnchorProblem>();
      const add = ({ anchorSeq, headChainSeq, ...rest }: Anchor, reason: AnchorProblem["reason"]) => {
        const hash = statementHash({ anchorSeq, headChainSeq, ...rest });
        problems.set(`${hash} ${reason}`, { anchorSeq, reason, anchoredHeadSeq: headChainSeq, liveHeadSeq });
      };
      for (const { statement, reason } of faults)
        if (reason === "signature_invalid" || reason === "hash_diverged") add(statement as Anchor, reason);
      for (const anchor of anchors) {
        const reason = positionProblem(anchor, hashes.get(anchor.headChainSeq), { found, prunes });
        if (reason) add(anchor, reason);
        else if (shrank(anchor, found, prunes)) add(anchor, "count_shrank");
      }
      return {
        checked: anchors.length,
        signedCount: anchors.filter((anchor) => anchor.signature !== null).length,
        latest: latest ?? anchors[0] ?? null,
        problems: [...problems.values()].sort((a, b) => b.anchorSeq - a.anchorSeq),
      };
    },
  };
}

function positionProblem(
  { headChainSeq, headChainHash }: Anchor,
  liveHash: string | undefined,
  { found, prunes }: { found: Walked; prunes: readonly PruneRecord[] },
): AnchorProblem["reason"] | undefined {
  if (headChainSeq === 0) return undefined;
  const record = prunes.find((prune) => prune.prunedThroughSeq === headChainSeq);
  const hash = liveHash ?? record?.prunedThroughHash;
  if (hash !== undefined) return hash === headChainHash ? undefined : "hash_diverged";
  if (prunes.some((prune) => headChainSeq <= prune.prunedThroughSeq)) return undefined;
  return (found.head?.chainSeq ?? 0) < headChainSeq ? "seq_regressed" : "anchored_entry_missing";
}

/** Fewer entries than were anchored, beyond what was pruned since: only for information. */
const shrank = (anchor: Anchor, found: Walked, prunes: readonly PruneRecord[]): boolean => {
  const pruned = prunes.filter((prune) => prune.anchorSeq > anchor.anchorSeq);
  return found.entriesChecked + pruned.reduce((sum, prune) => sum + prune.prunedCount, 0) < anchor.entryCount;
};
