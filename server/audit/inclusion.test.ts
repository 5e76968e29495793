import { describe, expect, it } from "vitest";
// @ts-expect-error: plain JavaScript without types, to be run as it is
import { verifyProof } from "../../scripts/verify-audit-proof.mjs";
import { entriesOf } from "../test/audit-world.ts";
import { anchorSigner } from "./anchor-signing.ts";
import { canonicalContent, sha256 } from "./chain.ts";
import { checkProof, type InclusionProof, inclusionPath, rootOfPath } from "./inclusion.ts";
import { merkleRoot } from "./merkle.ts";

const signer = anchorSigner(Buffer.alloc(32, 3).toString("base64"));
const leavesOf = (count: number) => Array.from({ length: count }, (_, at) => sha256(`leaf ${at}`));

it("a path leads from every leaf of a tree of any size to its root, and from no other leaf or place", () => {
  for (let size = 1; size <= 40; size += 1) {
    const leaves = leavesOf(size);
    const root = merkleRoot(leaves);
    for (let index = 0; index < size; index += 1) {
      const path = inclusionPath(leaves, index);
      expect(rootOfPath(leaves[index] as string, index, size, path), `${index} of ${size}`).toBe(root);
      expect(rootOfPath(sha256("another"), index, size, path)).not.toBe(root);
      if (size > 1) expect(rootOfPath(leaves[index] as string, (index + 1) % size, size, path)).not.toBe(root);
      expect(rootOfPath(leaves[index] as string, index, size, Buffer.concat([path, Buffer.alloc(32)]))).not.toBe(root);
      if (path.length > 0) expect(rootOfPath(leaves[index] as string, index, size, path.subarray(32))).not.toBe(root);
    }
  }
});

describe("a proof", () => {
  const entries = entriesOf(1_000);
  const since = 40;
  const leaves = entries.map((entry) => sha256(canonicalContent(entry)));
  const proofOf = (index: number): InclusionProof => {
    const { merkleRoot: _, ...anchor } = signer.sign({
      ...{ anchorSeq: 7, chainKind: "organization" as const, chainId: entries[0]?.orgId as string },
      ...{ headChainSeq: since + entries.length, headChainHash: sha256("head"), entryCount: since + entries.length },
      ...{ merkleRoot: merkleRoot(leaves), prevAnchorHash: sha256("before"), anchoredAt: "2026-01-02T04:00:00.000Z" },
    });
    const path = inclusionPath(leaves, index).toString("base64");
    return { format: "ap1", chainSeq: since + index + 1, size: leaves.length, path, anchor };
  };
  const entry = entries[417]!;
  const proof = proofOf(417);
  const both = (given: typeof entry, by: InclusionProof, publicKey = signer.publicKey) => {
    const { keyId } = anchorSigner(Buffer.alloc(32, publicKey === signer.publicKey ? 3 : 4).toString("base64"));
    const ours = checkProof(given, by, (statement) => {
      if (statement.signingKeyId !== keyId) return "unknown key";
      return validBy(statement) ? "valid" : "invalid";
    });
    expect(verifyProof({ entry: given, proof: by }, [publicKey])).toBe(ours);
    return ours;
  };
  const validBy = (statement: Parameters<typeof signer.sign>[0] & { signature: string | null }) =>
    signer.sign(statement).signature === statement.signature;

  it("of one entry among a thousand holds, and has 1 KB", () => {
    expect(both(entry, proof)).toBe("proven");
    expect(Buffer.byteLength(JSON.stringify(proof))).toBeLessThanOrEqual(1_024);
  });

  it("fails with any change of the entry, its place, the path or the anchor", () => {
    const anchor = (more: object) => ({ ...proof, anchor: { ...proof.anchor, ...more } });
    for (const field of ["action", "details", "actorEmail", "timestamp", "ipAddress"] as const)
      expect(both({ ...entry, [field]: field === "timestamp" ? "2026-01-01T00:00:00.000Z" : "x" }, proof), field).toBe(
        "broken",
      );
    expect(both(entries[418]!, proof)).toBe("broken");
    expect(both(entry, proofOf(418))).toBe("broken");
    expect(both(entry, { ...proof, chainSeq: proof.chainSeq + 1 })).toBe("broken");
    expect(both(entry, { ...proof, size: proof.size - 1 })).toBe("broken");
    expect(both(entry, { ...proof, path: "" })).toBe("broken");
    expect(both(entry, anchor({ anchoredAt: "2025-01-02T04:00:00.000Z" }))).toBe("broken");
    expect(both(entry, anchor({ headChainSeq: proof.anchor.headChainSeq + 1 }))).toBe("broken");
    expect(both({ ...entry, orgId: null }, proof)).toBe("broken");
  });

  it("proves nothing without a signature, or with a key that nobody trusts", () => {
    expect(both(entry, { ...proof, anchor: { ...proof.anchor, signature: null, signingKeyId: null } })).toBe(
      "unsigned",
    );
    const other = anchorSigner(Buffer.alloc(32, 4).toString("base64")).publicKey;
    expect(both(entry, proof, other)).toBe("unknown key");
  });
});
