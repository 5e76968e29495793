import { describe, expect, it } from "vitest";
import { type Anchor, anchorHash } from "#server/audit/anchor-format";
import { anchorSigner } from "#server/audit/anchor-signing";
import type { AuditBreak, AuditVerify } from "#server/audit/verify-result";
import { anchorKeys } from "./anchor-keys.ts";
import { type Evidence, judge } from "./judge.ts";

const signer = anchorSigner(Buffer.alloc(32, 1).toString("base64"));
const stranger = anchorSigner(Buffer.alloc(32, 2).toString("base64"));
const hashAt = (seq: number) => seq.toString(16).padStart(64, "0");

const anchor = (anchorSeq: number, headChainSeq: number, by = signer): Anchor =>
  by.sign({
    anchorSeq,
    chainKind: "system",
    chainId: "00000000-0000-0000-0000-000000000000",
    headChainSeq,
    headChainHash: headChainSeq === 0 ? null : hashAt(headChainSeq),
    entryCount: headChainSeq,
    merkleRoot: null,
    prevAnchorHash: null,
    anchoredAt: "2026-03-02T09:00:00.000Z",
  });
const unsigned = (one: Anchor): Anchor => ({ ...one, signature: null, signingKeyId: null });

const walked = (change: Partial<AuditVerify> = {}): AuditVerify => ({
  ...{ orgId: null, partnerId: null, ok: true, entriesChecked: 10, first: { chainSeq: 1, prevHash: null } },
  ...{ head: { chainSeq: 10, chainHash: hashAt(10) }, prunedPrefix: false, breakCount: 0, breaks: [] },
  anchors: { checked: 0, signedCount: 0, latest: null, problems: [] },
  ...{ verifiedAt: "2026-03-02T09:00:00.000Z", durationMs: 1 },
  ...change,
});

const judged = async (change: Partial<Evidence> = {}, spki: string[] = [signer.publicKey]) =>
  judge({
    ...{ result: walked(), stored: [anchor(2, 10), anchor(1, 5)], outside: undefined, compareOutside: true },
    ...{ keys: await anchorKeys(spki), requireAnchor: false, hashOf: anchorHash },
    ...change,
  });

const broken = (found: Partial<AuditBreak> & Pick<AuditBreak, "kind">): AuditVerify =>
  walked({
    ok: false,
    breakCount: 1,
    breaks: [{ chainSeq: 4, auditId: "id", expected: null, actual: null, ...found }],
  });

describe("a chain is broken", () => {
  it("by every break of the walk, at its position", async () => {
    for (const kind of ["sequence_gap", "link_mismatch", "chain_hash_mismatch", "content_mismatch"] as const) {
      const { verdict, findings } = await judged({ result: broken({ kind }) });
      expect([verdict, findings[0]?.kind, findings[0]?.chainSeq]).toEqual(["broken", kind, 4]);
    }
  });

  it("when its beginning is not the one that retention recorded", async () => {
    const result = broken({ kind: "prefix_unexplained", expected: hashAt(3), actual: hashAt(99) });
    expect((await judged({ result })).verdict).toBe("broken");
  });

  it("when an anchor kept elsewhere covers more than the chain has", async () => {
    const { verdict, findings } = await judged({ outside: [anchor(3, 12)] });
    expect([verdict, findings[0]?.kind, findings[0]?.chainSeq]).toEqual(["broken", "seq_regressed", 12]);
  });

  it("when an anchor kept elsewhere has another hash at the head, or differs from the server's, or is gone there", async () => {
    const other = signer.sign({ ...anchor(2, 10), headChainHash: hashAt(77) });
    expect((await judged({ outside: [other] })).findings[0]?.kind).toBe("hash_diverged");
    const altered = signer.sign({ ...anchor(1, 5), headChainHash: hashAt(77) });
    expect((await judged({ outside: [altered] })).findings[0]?.kind).toBe("hash_diverged");
    expect((await judged({ outside: [anchor(1, 5)], stored: [] })).findings[0]?.kind).toBe("anchor_lost");
  });

  it("when a signature of a known key is wrong", async () => {
    const forged = { ...anchor(1, 5), entryCount: 4 };
    expect(await judged({ stored: [forged] })).toMatchObject({
      verdict: "broken",
      findings: [{ kind: "signature_invalid" }],
    });
  });

  it("and nothing that is merely unproven makes it less so", async () => {
    const result = broken({ kind: "missing_row" });
    expect((await judged({ result, requireAnchor: true }, [])).verdict).toBe("broken");
  });
});

describe("a chain is not provable", () => {
  it("when its beginning is gone and no prune record says why", async () => {
    const result = broken({ kind: "prefix_unexplained", actual: hashAt(3) });
    expect((await judged({ result })).verdict).toBe("not_provable");
  });

  it("when an anchor is signed by an unknown key, even if the server calls that invalid", async () => {
    const problem = { anchorSeq: 1, reason: "signature_invalid" as const, anchoredHeadSeq: 5, liveHeadSeq: 10 };
    const result = walked({ ok: false, anchors: { checked: 1, signedCount: 1, latest: null, problems: [problem] } });
    const stored = [anchor(2, 10), anchor(1, 5, stranger)];
    expect(await judged({ result, stored })).toMatchObject({
      verdict: "not_provable",
      findings: [{ kind: "unknown_key" }],
    });
    expect((await judged({ result, stored }, [signer.publicKey, stranger.publicKey])).verdict).toBe("ok");
  });

  it("when an anchor is required and none is signed, at or before the head, or kept where it was asked for", async () => {
    for (const change of [
      { stored: [] },
      { stored: [unsigned(anchor(1, 5))] },
      { stored: [anchor(3, 12)] },
      { outside: [] },
    ]) {
      expect((await judged({ ...change, requireAnchor: true })).findings.at(-1)?.kind).toBe("unanchored");
    }
    expect((await judged({ requireAnchor: true }, [])).verdict).toBe("not_provable");
  });
});

describe("a chain is whole", () => {
  it("with an anchor at or before its head when one is required, and says how far anchors reach", async () => {
    const judgement = await judged({ requireAnchor: true, stored: [anchor(1, 5)], outside: [anchor(1, 5)] });
    expect(judgement).toMatchObject({ verdict: "ok", anchored: { through: 5, count: 1, signed: 1, verified: 1 } });
  });

  it("when it was emptied by retention after an anchor was taken", async () => {
    const result = walked({ head: null, first: null, entriesChecked: 0, prunedPrefix: true });
    expect((await judged({ result, outside: [anchor(1, 5)] })).verdict).toBe("ok");
  });
});
