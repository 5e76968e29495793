import { hash as hashOf } from "node:crypto";
import type { AnchorStatement, Signature } from "./anchor-format.ts";
import { type AuditContent, canonicalContent, chainOf, sha256 } from "./chain.ts";
import { merkleRoot } from "./merkle.ts";

/** The anchor without the root, which is what the path leads to. */
export type ProvenAnchor = Omit<AnchorStatement, "merkleRoot"> & Signature;

/** That one entry stood in a chain when an anchor was taken: about 1 KB, however long the chain (docs/audit-format.md, "Proofs"). */
export interface InclusionProof {
  readonly format: "ap1";
  readonly chainSeq: number;
  /** Leaves of the anchor's tree. */
  readonly size: number;
  /** Sibling hashes from the leaf to the root, 32 bytes each, in base64. */
  readonly path: string;
  readonly anchor: ProvenAnchor;
}

/** RFC 9162 §2.1.3.1: the siblings from leaf `index` up to the root. */
export function inclusionPath(leavesHex: readonly string[], index: number): Buffer {
  const siblings: string[] = [];
  let [from, to] = [0, leavesHex.length];
  while (to - from > 1) {
    const split = from + largestPowerBelow(to - from);
    const isLeft = index < split;
    siblings.push(merkleRoot(leavesHex.slice(...(isLeft ? [split, to] : [from, split]))) as string);
    [from, to] = isLeft ? [from, split] : [split, to];
  }
  return Buffer.from(siblings.reverse().join(""), "hex");
}

function largestPowerBelow(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);
const hash = (...parts: Buffer[]) => hashOf("sha256", Buffer.concat(parts), "buffer");

/** RFC 9162 §2.1.3.2: the root that a leaf and its path lead to; undefined where the path has another length. */
export function rootOfPath(leafHex: string, index: number, size: number, path: Buffer): string | undefined {
  if (index < 0 || index >= size || path.length % 32 !== 0) return undefined;
  let [place, last] = [index, size - 1];
  let root = hash(LEAF, Buffer.from(leafHex, "hex"));
  for (let at = 0; at < path.length; at += 32) {
    if (last === 0) return undefined;
    const sibling = path.subarray(at, at + 32);
    if (place % 2 === 1 || place === last) {
      root = hash(NODE, sibling, root);
      while (place % 2 === 0 && place !== 0) [place, last] = [place / 2, Math.floor(last / 2)];
    } else root = hash(NODE, root, sibling);
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  return last === 0 ? root.toString("hex") : undefined;
}

/**
 * Whether the entry, exactly as it is, stood at its place when the anchor was taken, by a signature that `valid` knows.
 * "unsigned" and "unknown key" contradict nothing, and prove nothing.
 */
export function checkProof(
  entry: AuditContent,
  { format, chainSeq, size, path, anchor }: InclusionProof,
  valid: (statement: AnchorStatement & Signature) => "valid" | "invalid" | "unknown key",
): "proven" | "broken" | "unsigned" | "unknown key" {
  if (format !== "ap1") return "broken";
  const { kind, id } = chainOf(entry);
  const merkle = rootOfPath(
    sha256(canonicalContent(entry)),
    size - 1 - (anchor.headChainSeq - chainSeq),
    size,
    Buffer.from(path, "base64"),
  );
  if (merkle === undefined || anchor.chainKind !== kind || anchor.chainId !== id) return "broken";
  const statement = { ...anchor, merkleRoot: merkle };
  if (anchor.signature === null) return "unsigned";
  const judged = valid(statement);
  return judged === "valid" ? "proven" : judged === "invalid" ? "broken" : judged;
}
