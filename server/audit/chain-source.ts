import type { ChainStatement } from "./anchor-format.ts";
import type { AuditContent, ChainLink, ChainRef } from "./chain.ts";

/** What a source shows of a chain while it is walked. */
export interface ChainVisitor {
  /** Every entry, by rising chainSeq. */
  link(link: ChainLink): void;
  /**
   * The live row of an entry, in any order: the hash of its canonical text, and whether its owner is this chain's and its
   * stored checksum is the sealed hash.
   */
  row(entry: { chainSeq: number; auditId: string; contentHash: string }, hash: string, intact: boolean): void;
  /** An entry whose row is gone. */
  missingRow(chainSeq: number, auditId: string): void;
  /** A row of this chain's owner that the chain does not have. */
  unsealedRow(auditId: string): void;
}

/** One entry with its row, as an exported bundle holds it. */
export interface ChainEntry extends ChainLink {
  row: (AuditContent & { checksum: string }) | null;
}

/**
 * One chain as it stood at one moment, wherever it is kept. All methods answer from the same snapshot; memory does
 * not grow with the chain.
 */
export interface ChainSource {
  readonly chain: ChainRef;
  /** Anchors and prune records by rising anchorSeq. */
  statements(): AsyncIterable<ChainStatement> | Iterable<ChainStatement>;
  walk(visitor: ChainVisitor): Promise<void>;
  close(): Promise<void>;
}
