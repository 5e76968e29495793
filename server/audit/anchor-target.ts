import { createHash } from "node:crypto";
import { type ChainStatement, isPrune, statementHash } from "./anchor-format.ts";

/** A place outside that takes statements, one by one and in order. */
export interface AnchorTarget {
  readonly name: "webhook" | "s3";
  /** Of where it leads, so that another place is told everything from the start; no secret can be read from it. */
  readonly mark: string;
  /** Resolves once the place has it; rejects with a message that holds no secret. */
  deliver(statement: ChainStatement): Promise<void>;
}

/** Something else stands where the statement belongs, and it is never written over. */
export class AnchorDiffers extends Error {
  override name = "AnchorDiffers";
}

export const markOf = (...parts: readonly string[]): string =>
  createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 16);

/** What is sent: the line of the anchor file, so that objects put together are one. */
export const lineOf = (statement: ChainStatement): string => `${JSON.stringify(statement)}\n`;

/** The same for every attempt, by which a receiver knows one that comes twice. */
export const idOf = statementHash;

/** `organization/ID/0000000012-anchor.json`: sorts as the chain's statements do. */
export const placeOf = (statement: ChainStatement): string => {
  const { chainKind, chainId, anchorSeq } = statement;
  const kind = isPrune(statement) ? "prune" : "anchor";
  return `${chainKind}/${chainId}/${String(anchorSeq).padStart(10, "0")}-${kind}.json`;
};
