import canonicalize from "canonicalize";
import { type ChainKind, sha256 } from "./chain.ts";

/** What anchors and prune records share: their place in the one sequence that a chain's statements form. */
interface Placed {
  chainKind: ChainKind;
  chainId: string;
  /** 1, 2, 3 … per chain; anchors and prune records count together. */
  anchorSeq: number;
  /** `statementHash` of the statement before this one; null at the start. */
  prevAnchorHash: string | null;
}

/** `signature` is base64 Ed25519 over `statementText`; both are null when no key is configured. */
export interface Signature {
  signature: string | null;
  signingKeyId: string | null;
}

/** What is fixed about a chain at one moment, and hashed and signed: its head, its length, its growth. */
export interface AnchorStatement extends Placed {
  /** 0 = the chain was empty. */
  headChainSeq: number;
  headChainHash: string | null;
  entryCount: number;
  /** RFC 9162 root over the content hashes since the previous anchor's head; null when there are none. */
  merkleRoot: string | null;
  anchoredAt: string;
}

/** A prefix that retention removed. Only organization chains have them. */
export interface PruneStatement extends Placed {
  type: "prune";
  prunedThroughSeq: number;
  /** `chainHash` of the last entry that was removed: what the first one left is linked to. */
  prunedThroughHash: string;
  prunedCount: number;
  /** Every removed entry is older than this. */
  cutoff: string;
  prunedAt: string;
  /** The record repeats, signed, the newest one from before prune records were signed. */
  restates?: true;
  /** Removed although so many of the entries did not hold: their incident had been open for 90 days. */
  breakCount?: number;
}

export type Anchor = AnchorStatement & Signature;
export type PruneRecord = PruneStatement & Signature;
export type ChainStatement = Anchor | PruneRecord;
type Unsigned = AnchorStatement | PruneStatement;

export const isPrune = <S extends Unsigned>(statement: S): statement is Extract<S, { type: "prune" }> =>
  (statement as Partial<PruneStatement>).type === "prune";

/** RFC 8785 text of everything but the signature. Fields a statement does not have are absent, not null. */
export const statementText = (statement: Unsigned): string => {
  const { anchorSeq, chainKind, chainId, prevAnchorHash } = statement;
  const placed = { anchorSeq, chainKind, chainId, prevAnchorHash };
  if (!isPrune(statement)) {
    const { headChainSeq, headChainHash, entryCount, merkleRoot, anchoredAt } = statement;
    return canonicalize({ ...placed, headChainSeq, headChainHash, entryCount, merkleRoot, anchoredAt })!;
  }
  const { type, prunedThroughSeq, prunedThroughHash, prunedCount, cutoff, prunedAt, restates, breakCount } = statement;
  const pruned = { type, prunedThroughSeq, prunedThroughHash, prunedCount, cutoff, prunedAt };
  return canonicalize({
    ...placed,
    ...pruned,
    ...(restates === undefined ? {} : { restates }),
    ...(breakCount === undefined ? {} : { breakCount }),
  })!;
};

/** Hex SHA-256 of `statementText`: the same whether or not the statement is signed. */
export const statementHash = (statement: Unsigned): string => sha256(statementText(statement));

/** The position up to which a statement speaks of its chain. */
export const reachOf = (statement: Unsigned): number =>
  isPrune(statement) ? statement.prunedThroughSeq : statement.headChainSeq;

export const statedAt = (statement: Unsigned): string =>
  isPrune(statement) ? statement.prunedAt : statement.anchoredAt;
