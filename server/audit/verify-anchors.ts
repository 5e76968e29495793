import { type Anchor, anchorHash } from "./anchor-format.ts";
import { anchorVerifier } from "./anchor-signing.ts";
import type { ChainLink } from "./chain.ts";
import type { PruneRecord } from "./chain-source.ts";
import type { AnchorProblem, AuditVerify } from "./verify-result.ts";

export interface AnchorCheckOptions {
  /** SPKI base64 of every key that has signed; none = signatures are counted, not checked. */
  publicKeys?: readonly string[];
  /** Anchors of this chain kept outside the database, newest first. */
  outsideAnchors?: Anchor[] | undefined;
}

type Walked = Pick<AuditVerify, "head" | "entriesChecked">;

/**
 * Holds anchors against the chain that is walked. A copy kept outside counts like one of the database, and two
 * different anchors for one position, or an anchor that does not follow its predecessor, are `hash_diverged`.
 */
export function anchorChecks(stored: Anchor[], options: AnchorCheckOptions) {
  const anchors = distinct([...stored, ...(options.outsideAnchors ?? [])]);
  const hashes = new Map<number, string | undefined>(anchors.map((anchor) => [anchor.headChainSeq, undefined]));
  return {
    checked: anchors.length,
    signedCount: anchors.filter((anchor) => anchor.signature !== null).length,
    latest: stored[0] ?? anchors[0] ?? null,
    /** Remembers the hashes at anchored positions while the chain streams by. */
    note(link: ChainLink) {
      if (hashes.has(link.chainSeq)) hashes.set(link.chainSeq, link.chainHash);
    },
    problems(found: Walked, prunes: PruneRecord[]): AnchorProblem[] {
      const unsigned = unsignedOrForged(anchors, options.publicKeys ?? []);
      const diverged = contradicting(stored, options.outsideAnchors ?? []);
      return anchors.flatMap((anchor) => {
        const reasons = new Set<AnchorProblem["reason"]>();
        if (unsigned.has(anchor)) reasons.add("signature_invalid");
        if (diverged.has(anchorHash(anchor))) reasons.add("hash_diverged");
        const reason = positionProblem(anchor, hashes.get(anchor.headChainSeq), found, prunes);
        if (reason) reasons.add(reason);
        else if (shrank(anchor, found, prunes)) reasons.add("count_shrank");
        const { anchorSeq, headChainSeq } = anchor;
        const liveHeadSeq = found.head?.chainSeq ?? null;
        return [...reasons].map((reason) => ({ anchorSeq, reason, anchoredHeadSeq: headChainSeq, liveHeadSeq }));
      });
    },
  };
}

const distinct = (anchors: Anchor[]): Anchor[] => {
  const byStatement = new Map<string, Anchor>();
  // Statement and signature: a copy whose signature alone was altered is looked at too.
  for (const anchor of anchors)
    byStatement.set(`${anchorHash(anchor)} ${anchor.signature} ${anchor.signingKeyId}`, anchor);
  return [...byStatement.values()].sort((a, b) => b.anchorSeq - a.anchorSeq);
};

/** Signatures that do not verify, and anchors without one although an earlier anchor has one. */
const unsignedOrForged = (anchors: Anchor[], publicKeys: readonly string[]): Set<Anchor> => {
  const verifiers = publicKeys.map(anchorVerifier);
  if (verifiers.length === 0) return new Set();
  const firstSigned = Math.min(...anchors.filter((anchor) => anchor.signature !== null).map((a) => a.anchorSeq));
  return new Set(
    anchors.filter((anchor) =>
      anchor.signature === null ? anchor.anchorSeq > firstSigned : !verifiers.some((valid) => valid(anchor)),
    ),
  );
};

/** Hashes of anchors that do not follow their predecessor, or that the other keeper knows differently. */
const contradicting = (stored: Anchor[], outside: Anchor[]): Set<string> => {
  const found = new Set<string>();
  const known = new Map<number, string>();
  for (const anchor of stored) known.set(anchor.anchorSeq, anchorHash(anchor));
  for (const anchor of outside) {
    const hash = known.get(anchor.anchorSeq);
    if (hash !== undefined && hash !== anchorHash(anchor)) found.add(hash).add(anchorHash(anchor));
  }
  for (const anchor of stored) {
    const previous = known.get(anchor.anchorSeq - 1);
    if (previous !== undefined && previous !== anchor.prevAnchorHash) found.add(anchorHash(anchor));
  }
  return found;
};

const positionProblem = (
  anchor: Anchor,
  liveHash: string | undefined,
  found: Walked,
  prunes: PruneRecord[],
): AnchorProblem["reason"] | undefined => {
  const { headChainSeq, headChainHash } = anchor;
  if (headChainSeq === 0) return undefined;
  const record = prunes.find((prune) => prune.prunedThroughSeq === headChainSeq);
  const hash = liveHash ?? record?.prunedThroughHash;
  if (hash !== undefined) return hash === headChainHash ? undefined : "hash_diverged";
  if (prunes.some((prune) => headChainSeq <= prune.prunedThroughSeq)) return undefined;
  return (found.head?.chainSeq ?? 0) < headChainSeq ? "seq_regressed" : "anchored_entry_missing";
};

/** Fewer entries than were anchored, beyond what was pruned since: only for information. */
const shrank = (anchor: Anchor, found: Walked, prunes: PruneRecord[]): boolean => {
  const pruned = prunes.filter((prune) => prune.prunedAt >= anchor.anchoredAt);
  return found.entriesChecked + pruned.reduce((sum, prune) => sum + prune.prunedCount, 0) < anchor.entryCount;
};
