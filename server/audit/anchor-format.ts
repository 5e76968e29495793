import canonicalize from "canonicalize";
import { type ChainKind, sha256 } from "./chain.ts";

/** What is fixed about a chain at one moment, and hashed and signed: its head, its length, its growth. */
export interface AnchorStatement {
  /** 1, 2, 3 … per chain. */
  anchorSeq: number;
  chainKind: ChainKind;
  chainId: string;
  /** 0 = the chain was empty. */
  headChainSeq: number;
  headChainHash: string | null;
  entryCount: number;
  /** RFC 9162 root over the content hashes since the previous anchor's head; null when there are none. */
  merkleRoot: string | null;
  /** `anchorHash` of the previous anchor of this chain. */
  prevAnchorHash: string | null;
  anchoredAt: string;
}

/** `signature` is base64 Ed25519 over `anchorText`; both last fields are null when no key is configured. */
export interface Anchor extends AnchorStatement {
  signature: string | null;
  signingKeyId: string | null;
}

/** RFC 8785 text of everything but the signature. */
export const anchorText = (anchor: AnchorStatement): string =>
  canonicalize({
    anchorSeq: anchor.anchorSeq,
    chainKind: anchor.chainKind,
    chainId: anchor.chainId,
    headChainSeq: anchor.headChainSeq,
    headChainHash: anchor.headChainHash,
    entryCount: anchor.entryCount,
    merkleRoot: anchor.merkleRoot,
    prevAnchorHash: anchor.prevAnchorHash,
    anchoredAt: anchor.anchoredAt,
  })!;

/** Hex SHA-256 of `anchorText`: the same whether or not the anchor is signed. */
export const anchorHash = (anchor: AnchorStatement): string => sha256(anchorText(anchor));
