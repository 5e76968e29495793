import * as crypto from "node:crypto";

/** Collects leaves one by one in O(log n) memory. */
export interface MerkleTree {
  add(leafHex: string): void;
  /** Hex root of the leaves so far; null while there are none. */
  root(): string | null;
}

const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);
const hash = (...parts: Buffer[]) => crypto.hash("sha256", Buffer.concat(parts), "buffer");

/**
 * RFC 9162 §2.1.1 tree: leaf = SHA-256(0x00 ‖ leaf), node = SHA-256(0x01 ‖ left ‖ right). Complete subtrees are
 * merged as soon as two of one size exist; what is left is joined from the right, which is the RFC's split at the
 * largest power of two.
 */
export const merkleTree = (): MerkleTree => {
  const subtrees: Buffer[] = [];
  let leaves = 0;
  return {
    add(leafHex) {
      let node = hash(LEAF, Buffer.from(leafHex, "hex"));
      for (let rest = leaves; rest % 2 === 1; rest = Math.floor(rest / 2)) node = hash(NODE, subtrees.pop()!, node);
      subtrees.push(node);
      leaves += 1;
    },
    root() {
      if (subtrees.length === 0) return null;
      return subtrees.reduceRight((right, left) => hash(NODE, left, right)).toString("hex");
    },
  };
};

export const merkleRoot = (leavesHex: Iterable<string>): string | null => {
  const tree = merkleTree();
  for (const leaf of leavesHex) tree.add(leaf);
  return tree.root();
};
