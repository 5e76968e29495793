import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Anchor, type PruneRecord, statementHash, statementText } from "./anchor-format.ts";
import { anchorSigner, anchorVerifier } from "./anchor-signing.ts";
import {
  type AuditContent,
  type ChainRef,
  canonicalContent,
  chainHash,
  chainOf,
  contentHash,
  parseCanonicalContent,
} from "./chain.ts";
import { merkleRoot } from "./merkle.ts";

const ZERO = "00000000-0000-0000-0000-000000000000";

interface Link {
  chain: ChainRef;
  chainSeq: number;
  contentHash: string;
  prevHash: string | null;
  chainHash: string;
}
interface Vectors {
  entries: (Link & { content: AuditContent; canonical: string })[];
  farLink: Link;
  merkle: { leaves: string[]; root: string | null }[];
  anchor: { seed: string; publicKey: string; text: string; hash: string; signed: Anchor };
  prunes: { text: string; hash: string; signed: PruneRecord }[];
}
const vectors: Vectors = JSON.parse(
  readFileSync(new URL("../../fixtures/golden/audit-vectors.json", import.meta.url), "utf8"),
);

/** The format written down a second time, from its description and with other primitives. */
const independent = {
  hash: (...parts: (string | Uint8Array)[]) =>
    parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex"),
  link({ chain, chainSeq, contentHash, prevHash }: Link) {
    const seq = Buffer.alloc(8);
    seq.writeBigUInt64BE(BigInt(chainSeq));
    const kind = ["system", "partner", "organization"].indexOf(chain.kind);
    return this.hash(
      Uint8Array.of(1, 0x41, 0x43, 0x31, kind),
      Buffer.from(chain.id.replace(/-/g, ""), "hex"),
      seq,
      Buffer.from(contentHash, "hex"),
      Buffer.from(prevHash ?? "00".repeat(32), "hex"),
    );
  },
  merkle(leaves: string[]): string {
    if (leaves.length === 1) return this.hash(Uint8Array.of(0), Buffer.from(leaves[0]!, "hex"));
    let split = 1;
    while (split * 2 < leaves.length) split *= 2;
    const side = (part: string[]) => Buffer.from(this.merkle(part), "hex");
    return this.hash(Uint8Array.of(1), side(leaves.slice(0, split)), side(leaves.slice(split)));
  },
};

describe("audit chain format", () => {
  it.each(vectors.entries)("entry $chainSeq of chain $chain.kind matches its published vector", (entry) => {
    expect(canonicalContent(entry.content)).toBe(entry.canonical);
    expect(contentHash(entry.content)).toBe(entry.contentHash);
    expect(chainOf(entry.content)).toEqual(entry.chain);
    expect(chainHash(entry.chain, entry)).toBe(entry.chainHash);
    expect(parseCanonicalContent(entry.canonical)).toEqual(entry.content);
  });

  it("agrees with a second implementation", () => {
    for (const entry of vectors.entries) {
      expect(independent.hash(entry.canonical)).toBe(entry.contentHash);
      expect(independent.link(entry)).toBe(entry.chainHash);
    }
    expect(independent.link(vectors.farLink)).toBe(vectors.farLink.chainHash);
    expect(chainHash(vectors.farLink.chain, vectors.farLink)).toBe(vectors.farLink.chainHash);
  });

  it("changes the hash when any single field changes", () => {
    const { content } = vectors.entries[0]!;
    const hashes = Object.keys(content).map((field) =>
      contentHash({ ...content, [field]: field === "timestamp" ? "2026-01-02T03:04:05.679Z" : "other" }),
    );
    expect(new Set([contentHash(content), ...hashes]).size).toBe(Object.keys(content).length + 1);
    expect(contentHash({ ...content, resourceName: null })).not.toBe(contentHash({ ...content, resourceName: "" }));
  });

  it("ties a link to its chain and its position", () => {
    const [first] = vectors.entries;
    const elsewhere = { kind: "partner", id: first!.chain.id } as const;
    expect(chainHash(elsewhere, first!)).not.toBe(first!.chainHash);
    expect(chainHash(first!.chain, { ...first!, chainSeq: 2 })).not.toBe(first!.chainHash);
  });

  it("never takes a malformed hash for a link", () => {
    const [first] = vectors.entries;
    expect(chainHash(first!.chain, { ...first!, contentHash: "zz" })).toBe("");
    expect(chainHash(first!.chain, { ...first!, prevHash: "12" })).toBe("");
  });
});

describe("merkle root", () => {
  it.each(vectors.merkle)("matches its vector and the recursive definition", ({ leaves, root }) => {
    expect(merkleRoot(leaves)).toBe(root);
    expect(leaves.length === 0 ? null : independent.merkle(leaves)).toBe(root);
  });
});

describe("anchors", () => {
  const { seed, publicKey, text, hash, signed } = vectors.anchor;

  it("has the published text, hash and signature", () => {
    const { signature: _signature, signingKeyId: _key, ...statement } = signed;
    expect(statementText(signed)).toBe(text);
    expect(statementHash(signed)).toBe(hash);
    expect(createHash("sha256").update(text).digest("hex")).toBe(hash);
    expect(anchorSigner(seed).sign(statement)).toEqual(signed);
    // RFC 8032 §7.1 test 1: this seed's public key.
    expect(Buffer.from(publicKey, "base64").subarray(12).toString("hex")).toBe(
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    );
  });

  it.each(vectors.prunes)("prune record $hash has the published text, hash and signature", (vector) => {
    const { signature: _signature, signingKeyId: _key, ...statement } = vector.signed;
    expect(statementText(vector.signed)).toBe(vector.text);
    expect(statementHash(vector.signed)).toBe(vector.hash);
    expect(createHash("sha256").update(vector.text).digest("hex")).toBe(vector.hash);
    expect(anchorSigner(seed).sign(statement)).toEqual(vector.signed);
    const valid = anchorVerifier(publicKey);
    expect(valid(vector.signed)).toBe(true);
    for (const change of [
      { prunedThroughSeq: 3 },
      { chainId: ZERO },
      { anchorSeq: 9 },
      { cutoff: "2026-12-02T03:30:00.000Z" },
    ])
      expect(valid({ ...vector.signed, ...change })).toBe(false);
  });

  it("refuses an altered anchor, another key and a missing signature", () => {
    const valid = anchorVerifier(publicKey);
    expect(valid(signed)).toBe(true);
    expect(valid({ ...signed, entryCount: 2 })).toBe(false);
    expect(valid({ ...signed, headChainSeq: 2 })).toBe(false);
    expect(valid({ ...signed, signature: null, signingKeyId: null })).toBe(false);
    const other = anchorSigner(Buffer.alloc(32, 7).toString("base64"));
    expect(valid(other.sign(signed))).toBe(false);
    expect(valid({ ...other.sign(signed), signingKeyId: signed.signingKeyId })).toBe(false);
  });

  it("refuses a malformed seed without quoting it", () => {
    expect(() => anchorSigner("c2hvcnQ=")).toThrow(/32 bytes/);
    expect(() => anchorSigner("c2hvcnQ=")).not.toThrow(/c2hvcnQ/);
  });
});
